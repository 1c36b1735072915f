import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Metafile } from 'esbuild'
import { BUNDLES, type Bundle, buildBundle } from '../../functions/bundles.ts'
import { type Figures, median, rounded } from './figures.ts'

const STARTS = 15
/** Whoever has less than this share is told of together. */
const NAMED = 10

/**
 * What a cold start reads and costs: bytes of each bundle, of the files that are read before the first request, by whose
 * code they are; and the CPU that loading them takes, in processes of their own.
 */
export async function coldStartBench(log: (line: string) => void): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'runfold-bench-cold-'))
  const figures: Figures = {}
  try {
    for (const name of BUNDLES) {
      const meta = await buildBundle(name, join(folder, name))
      const read = filesRead(meta)
      figures[`${name}_bundle_bytes`] = bytesIn(Object.keys(meta.outputs), meta)
      figures[`${name}_start_bytes`] = bytesIn(read, meta)
      const { cpu, wall } = await measureStarts(join(folder, name, 'index.mjs'), log, name)
      figures[`${name}_init_ms`] = rounded(median(cpu), 0)
      figures[`${name}_init_wall_ms`] = rounded(median(wall), 0)
      Object.assign(figures, sharesOf(name, read, meta))
    }
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The entry and all it imports statically. */
function filesRead({ outputs }: Metafile): readonly string[] {
  const read = new Set<string>()
  const visit = (path: string) => {
    if (read.has(path)) return
    read.add(path)
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && !external) visit(next)
    }
  }
  const entry = Object.keys(outputs).find((path) => path.endsWith('/index.mjs'))
  if (entry) visit(entry)
  return [...read]
}

const bytesIn = (paths: readonly string[], { outputs }: Metafile) =>
  paths.reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0)

/** Bytes of the start by package; what is ours is `runfold`. */
function sharesOf(bundle: Bundle, read: readonly string[], { outputs }: Metafile): Figures {
  const bytes = new Map<string, number>()
  for (const path of read) {
    for (const [source, { bytesInOutput }] of Object.entries(outputs[path]?.inputs ?? {})) {
      const owner = /node_modules\/(?!.*node_modules)((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? 'runfold'
      bytes.set(owner, (bytes.get(owner) ?? 0) + bytesInOutput)
    }
  }
  const sorted = [...bytes].sort(([, a], [, b]) => b - a)
  const rest = sorted.slice(NAMED).reduce((sum, [, n]) => sum + n, 0)
  return Object.fromEntries(
    [...sorted.slice(0, NAMED), ['others', rest] as const].map(([owner, n]) => [
      `${bundle}_start_bytes_of_${owner.replace(/^@/, '').replaceAll(/\W+/g, '_')}`,
      n,
    ]),
  )
}

/** Loads the bundle as the runtime does, and prints what that took, ms. */
const LOADER = `
globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: {} }
const cpu = process.cpuUsage(), wall = performance.now()
await import(process.argv[1])
const { user, system } = process.cpuUsage(cpu)
console.log(JSON.stringify({ cpu: (user + system) / 1000, wall: performance.now() - wall }))
process.exit(0)`

async function measureStarts(file: string, log: (line: string) => void, name: Bundle) {
  const cpu: number[] = []
  const wall: number[] = []
  for (let n = 0; n < STARTS; n++) {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', LOADER, file],
      { env: { RUNFOLD_BUCKET: 'b', RUNFOLD_TABLE: 't', AWS_REGION: 'us-east-1' } },
    )
    const taken = JSON.parse(stdout) as { cpu: number; wall: number }
    cpu.push(taken.cpu)
    wall.push(taken.wall)
  }
  log(`cold-start: ${name}: CPU ${cpu.map((ms) => ms.toFixed(0)).join(' ')} ms`)
  return { cpu, wall }
}
