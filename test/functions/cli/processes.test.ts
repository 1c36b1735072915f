import { execFile, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
const main = join(root, 'functions/cli/main.ts')
const bin = join(root, 'functions/cli/runfold.js')

interface Ended {
  readonly code: number | null
  readonly out: Buffer
  readonly err: string
}

let folder: string
const environment = () => ({ PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: join(folder, 'state') })

const runNode = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = {
      cwd: folder,
      env: { ...environment(), ...env },
      encoding: 'buffer' as const,
      maxBuffer: 1 << 26,
    }
    const child = execFile(process.execPath, [...args], options, (_, out, err) => {
      resolve({ code: child.exitCode, out, err: err.toString() })
    })
  })

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'runfold-process-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the server through the CLI, and ends it as Ctrl-C does. */
const serve = async (
  program = main,
): Promise<{
  url: string
  said(): string
  stop(): Promise<number | null>
}> => {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    cwd: folder,
    env: environment(),
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      said += chunk
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said)
      if (found && / ls\n$/.test(said)) resolve(found[0])
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.once('exit', () => reject(new Error(`the server ended: ${said}`)))
  })
  const stop = () => {
    child.kill('SIGINT')
    return ended
  }
  return { url, said: () => said, stop }
}

describe('the program as a process', () => {
  it('brings a run to a server of its own making and back, byte for byte', async () => {
    const server = await serve()
    const env = { RUNFOLD_URL: server.url }
    try {
      const cli = (line: string) => runNode([main, ...line.split(' ')], env)
      expect((await cli('demo run.lvr --records 300')).code).toBe(0)
      expect(await cli('push run.lvr')).toMatchObject({ code: 0, err: '' })
      const sent = readFileSync(join(folder, 'run.lvr'))
      expect((await cli('pull demo-1 -')).out.equals(sent)).toBe(true)
      const verdict = JSON.parse((await cli('verify demo-1 --json')).out.toString())
      expect(verdict).toMatchObject({ ok: true, digest: createHash('sha256').update(sent).digest('hex') })
    } finally {
      expect(await server.stop()).toBe(0)
    }
  }, 30_000)

  it('says how a checkout is called, and which settings cannot be', async () => {
    const server = await serve()
    expect(await server.stop()).toBe(0)
    expect(server.said()).toContain('  npm run -s cli -- push run.lvr\n')
    for (const wrong of ['--port 99999', '--host 0.0.0.0'])
      expect(await runNode([main, 'serve', ...wrong.split(' ')])).toMatchObject({ code: 2 })
  }, 30_000)

  it('stays quiet when the reader of its output goes away', async () => {
    await runNode([main, 'demo', 'piped.lvr', '--records', '2000'])
    const child = spawn(process.execPath, [main, 'records', 'piped.lvr', '--json'], {
      cwd: folder,
      env: environment(),
    })
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, err]).toEqual([0, ''])
  }, 30_000)

  it('works from its package alone, server and all', async () => {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, stdio: 'ignore' })
    const packed = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? ''
    execFileSync('tar', ['-xzf', packed], { cwd: folder })
    const program = join(folder, 'package', 'functions', 'cli', 'runfold.js')
    expect((await runNode([program, '--version'])).out.toString()).toMatch(/^\d+\.\d+\.\d+\n$/)
    await runNode([program, 'demo', 'packed.lvr'])
    const server = await serve(program)
    const pushed = await runNode([program, 'push', 'packed.lvr', '--run', 'packed'], {
      RUNFOLD_URL: server.url,
    })
    expect(await server.stop()).toBe(0)
    expect(pushed).toMatchObject({ code: 0, err: '' })
    expect(server.said()).toContain('  npx runfold push run.lvr\n')

    // What programs import of it, found by its name as they would.
    const modules = join(folder, 'node_modules')
    mkdirSync(modules)
    for (const name of ['zod', 'hash-wasm', 'p-retry', 'is-network-error', 'eventsource-parser'])
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
    renameSync(join(folder, 'package'), join(modules, 'runfold'))
    writeFileSync(
      join(folder, 'importing.mjs'),
      `import { readArchive } from 'runfold/codec'
       import { isRunfoldError, openAppender, Redacted } from 'runfold/client'
       import { fold } from 'runfold/fold'
       import { openSpool } from 'runfold/spool'
       import { readFileSync } from 'node:fs'
       using spool = await openSpool({ folder: 'spool' })
       const refused = await spool.append({ run_id: 'r', offset: 0, bytes: new Uint8Array(6) }).catch((error) => error)
       const records = [...readArchive(readFileSync('packed.lvr'))].length
       console.log(records, isRunfoldError(refused, 'bad_frames'), String(new Redacted('secret')), typeof openAppender, typeof fold)`,
    )
    const imported = await runNode(['importing.mjs'])
    expect(imported).toMatchObject({ err: '' })
    expect(imported.out.toString()).toBe('200 true <redacted> function function\n')
  }, 90_000)

  it('says in one line that Node is too old, before anything else can go wrong', async () => {
    const old = "Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })"
    const { code, err } = await runNode([
      '--import',
      `data:text/javascript,${encodeURIComponent(old)}`,
      bin,
      'ls',
    ])
    expect(code).toBe(1)
    expect(err).toBe('runfold needs Node 22.18 or newer, and this is Node 20.19.0\n')
  })
})
