import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { bundleViewer } from './api/viewer/bundle.ts'

/** The Lambda functions, each a folder with `index.mjs` and the parts that it loads when they are needed. */
export const BUNDLES = ['api', 'maintain'] as const
export type Bundle = (typeof BUNDLES)[number]

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** What is deployed lies here. */
export const bundleFolder = (name: Bundle) => `${ROOT}dist-lambda/${name}`

/**
 * How a function is bundled, for whoever builds, deploys or measures it. Split, so that a cold start reads no S3 client
 * that its request does not need; with the SDK inside, since the one of the runtime may be any.
 */
const optionsOf = (name: Bundle, outdir: string): BuildOptions & { metafile: true } => ({
  absWorkingDir: ROOT,
  entryPoints: { index: `functions/${name}/handler.ts` },
  outdir,
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'], // the SDK's main is CommonJS, which cannot be shaken
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
})

/** Builds one function anew. @returns what went into which file, and how much of it */
export async function buildBundle(name: Bundle, folder = bundleFolder(name)): Promise<Metafile> {
  await rm(folder, { recursive: true, force: true })
  const { metafile } = await build(optionsOf(name, folder))
  if (name === 'api') await addViewer(`${folder}/viewer`)
  await writeFile(`${folder}.meta.json`, JSON.stringify(metafile)) // beside it, so that it is not deployed
  return metafile
}

/** The static files that the API serves beside its routes. */
async function addViewer(folder: string): Promise<void> {
  await mkdir(folder)
  for (const { name, bytes } of await bundleViewer(ROOT)) await writeFile(`${folder}/${name}`, bytes)
}
