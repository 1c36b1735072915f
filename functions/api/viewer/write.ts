import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { bundleViewer } from './bundle.ts'
import { packageRoot, VIEWER_FOLDER } from './files.ts'

// `npm run build:viewer`: the static files that packages carry and CloudFront serves.

const MAX_GZIP_BYTES = 150_000

const root = packageRoot()
const folder = join(root, VIEWER_FOLDER)
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })

let packed = 0
for (const { name, bytes } of await bundleViewer(root)) {
  await writeFile(join(folder, name), bytes)
  packed += gzipSync(bytes, { level: 9 }).length
}
console.log(`${VIEWER_FOLDER}: ${packed} bytes gzipped`)
if (packed > MAX_GZIP_BYTES) throw new Error(`the viewer is over ${MAX_GZIP_BYTES} bytes gzipped`)
