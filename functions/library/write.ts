import { execFileSync } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

// `npm run build:library`: what programs import from the package. JavaScript in dist/lib, a file an entry and what they
// share in chunks, so that a RunfoldError is the same class in all of them; declarations in dist/lib/types.

const root = fileURLToPath(new URL('../../', import.meta.url))
const source = join(root, 'functions/library')
const out = join(root, 'dist/lib')
const types = join(out, 'types')
const ENTRIES = ['codec', 'fold', 'client', 'spool']

await rm(out, { recursive: true, force: true })
const entryPoints = ENTRIES.map((name) => join(source, `${name}.ts`))
await build({
  entryPoints,
  outdir: out,
  bundle: true,
  splitting: true,
  // The dependencies come with the package.
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node22.18',
  chunkNames: 'chunks/[name]-[hash]',
  alias: Object.fromEntries((await doors()).map(({ name, path }) => [name, path])),
})
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const config = join(source, 'tsconfig.json')
execFileSync(process.execPath, [tsc, '-p', config, '--outDir', types], { stdio: 'inherit' })
await mendSpecifiers()

/** The doors of package.json#imports, which lead to sources and are not there in the package. */
async function doors(): Promise<readonly { name: string; path: string }[]> {
  const { imports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    imports: Record<string, string>
  }
  return Object.entries(imports).map(([name, path]) => ({ name, path: join(root, path) }))
}

/** Declarations keep what the sources import, `.ts` endings and doors; a reader of the package finds them as `.js` beside. */
async function mendSpecifiers(): Promise<void> {
  const found = await doors()
  const places = new Map(found.map(({ name, path }) => [name, join(types, relative(root, path))]))
  for (const name of await readdir(types, { recursive: true })) {
    if (!name.endsWith('.d.ts')) continue
    const file = join(types, name)
    const text = await readFile(file, 'utf8')
    const mended = text.replaceAll(
      /(from |import\()'([#.][^']*)'/g,
      (_, before: string, specifier: string) => {
        const place = places.get(specifier)
        const path = place ? relative(dirname(file), place) : specifier
        return `${before}'${path.replace(/\.ts$/, '.js')}'`
      },
    )
    await writeFile(file, mended)
  }
}
