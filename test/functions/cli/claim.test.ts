import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeArchive } from '#codec'
import { FEATURES_OFFERED } from '../../../functions/api/features.ts'
import { EXIT } from '../../../functions/cli/exit-codes.ts'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { frameOf, kindsOf, RECORDS, SECRET } from '../daemon/resume/kit.ts'
import { cliIn } from './kit.ts'

const OWNER = { machine_id: 'owner', world_id: 'w' }
const OTHER = { machine_id: 'other', world_id: 'w' }
const OWNED = ['OwnershipChanged', 'ContextCheckpoint']
const frame = frameOf({ StatusChanged: { status: 'running', at: 7 } })

const setUp = async () => {
  const server = await startServer(undefined, FEATURES_OFFERED)
  const { client } = server
  const cli = cliIn({ fetch: server.fetch, env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token } })
  const waits = async (run: string, requires: string[] = [], records = RECORDS) => {
    const { epoch } = await client.acquire(run, { ...OWNER, requires })
    const bytes = records.length === 0 ? undefined : encodeArchive(records)
    if (bytes) await client.append(run, { offset: 0, epoch, bytes })
    await client.release(run, epoch)
  }
  const archive = async (run: string) => {
    const { tail } = await client.tail(run)
    const { chunks } = await client.archive(run, { start: 0, end: tail })
    return Buffer.concat(await collect(chunks))
  }
  cli.write('frame', frame)
  const claim = (exec: string, more: readonly string[] = [], around = {}) =>
    cli.run(['claim', '--to', 'runs', '--wait', '0', '--json', '--exec', exec, ...more], around)
  return {
    server,
    client,
    ...cli,
    waits,
    archive,
    claim,
    file: (...path: string[]) => join(cli.folder, 'runs', ...path),
  }
}

const collect = async (chunks: AsyncIterable<Uint8Array>) => {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

describe('claim', () => {
  it('has a command carry a run on, sends what it appends, and gives the run back', async () => {
    const { waits, claim, archive, client, file } = await setUp()
    await waits('a')
    const { code, lines, out } = await claim('env > seen; cat ../../frame >> run.lvr')
    expect(code).toBe(EXIT.ok)
    const stored = await archive('a')
    expect(kindsOf(stored).slice(RECORDS.length)).toEqual([...OWNED, 'StatusChanged'])
    expect(readFileSync(file('a', 'run.lvr')).equals(stored)).toBe(true)
    expect(lines.at(-1)).toMatchObject({ event: 'ended', run_id: 'a', exit_code: 0, tail: stored.length })
    expect(lines[0]).toMatchObject({
      run_id: 'a',
      pending_batch: { calls: [{ done: true }, { done: false }] },
    })
    expect((await client.leaseState('a')).lease).toBeNull()
    const seen = readFileSync(file('a', 'seen'), 'utf8')
    expect(seen).toMatch(/^RUNFOLD_RUN_ID=a$/m)
    expect(seen).toMatch(/^RUNFOLD_EPOCH=2$/m)
    expect(readFileSync(file('a', 'meta.json'), 'utf8')).toContain(SECRET)
    expect(out).not.toContain(SECRET)
  })

  it('needs the scopes append and resume, and no other', async () => {
    const { waits, claim, client } = await setUp()
    await waits('a')
    const { token } = await client.makeToken({ name: 'worker', scopes: ['append', 'resume'] })
    const env = { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: token }
    expect((await claim('true', [], { env })).code).toBe(EXIT.ok)
  })

  it('gives back what a command could not carry on, and says so by its exit code', async () => {
    const { waits, claim, client } = await setUp()
    await waits('a')
    const { code, lines } = await claim('exit 3')
    expect([code, lines.at(-1)?.exit_code]).toEqual([EXIT.failed, 3])
    expect((await client.leaseState('a')).lease).toBeNull()
  })

  it('takes no run that requires more than the machine can do', async () => {
    const { waits, claim, file } = await setUp()
    await waits('a', ['gpu', 'docker'])
    expect((await claim('true', ['--can', 'gpu'])).code).toBe(EXIT.notFound)
    expect(existsSync(file('a'))).toBe(false)
    expect((await claim('true', ['--can', 'docker,gpu'])).code).toBe(EXIT.ok)
  })

  it('has a command begin a run that is still empty', async () => {
    const { waits, claim, archive, write } = await setUp()
    await waits('new', [], [])
    write('first', encodeArchive(RECORDS))
    expect((await claim('cat ../../first > run.lvr')).code).toBe(EXIT.ok)
    expect((await archive('new')).equals(Buffer.from(encodeArchive(RECORDS)))).toBe(true)
  })

  it('gives back a run that cannot be brought', async () => {
    const { waits, claim, client, file } = await setUp()
    await waits('a', [], RECORDS.slice(1))
    const { code, lines } = await claim('touch ran')
    expect(code).toBe(EXIT.badInput)
    expect(lines.at(-1)).toMatchObject({ event: 'failed', run_id: 'a', reason: 'no_header' })
    expect(existsSync(file('a', 'ran'))).toBe(false)
    expect((await client.leaseState('a')).lease).toBeNull()
  })

  it('gives back a run when the server does not say what it can do', async () => {
    const { waits, claim, client, server, file } = await setUp()
    await waits('a')
    const fetch: typeof server.fetch = async (input, init) =>
      String(input).includes('/capabilities')
        ? new Response('{}', { status: 404 })
        : server.fetch(input, init)
    const { code, lines } = await claim('touch ran', [], { fetch })
    expect([code, lines.at(-1)?.run_id]).toEqual([EXIT.failed, 'a'])
    expect(existsSync(file('a'))).toBe(false)
    expect((await client.leaseState('a')).lease).toBeNull()
  })

  it('ends the command when another takes the run, and leaves it to them', async () => {
    const { waits, claim, client, server, archive } = await setUp()
    await waits('a')
    let appends = 0
    const fetch: typeof server.fetch = async (input, init) => {
      const isAppend = init?.method === 'POST' && String(input).includes('/frames')
      if (isAppend && ++appends === 2) await client.acquire('a', { ...OTHER, force: true })
      return server.fetch(input, init)
    }
    const { code, lines } = await claim('cat ../../frame >> run.lvr; sleep 60', [], { fetch })
    expect(code).toBe(EXIT.fenced)
    expect(lines.at(-1)).toMatchObject({ event: 'failed', code: 'fenced', lease: OTHER })
    expect(kindsOf(await archive('a')).slice(RECORDS.length)).toEqual(OWNED)
    expect((await client.leaseState('a')).lease).toMatchObject(OTHER)
  })

  it('that is interrupted ends the command, sends what it has left and gives the run back', async () => {
    const { waits, claim, client, archive, file } = await setUp()
    await waits('a')
    const interrupt = new AbortController()
    const ended = claim(
      'trap "cat ../../frame >> run.lvr; exit 0" TERM; touch ready; while :; do sleep 0.05; done',
      [],
      {
        signal: interrupt.signal,
      },
    )
    while (!existsSync(file('a', 'ready'))) await new Promise((resolve) => setImmediate(resolve))
    interrupt.abort()
    expect((await ended).code).toBe(EXIT.ok)
    expect(kindsOf(await archive('a')).at(-1)).toBe('StatusChanged')
    expect((await client.leaseState('a')).lease).toBeNull()
  })

  it('goes on with the next run where it shall, past those that fail', async () => {
    const { waits, claim, file } = await setUp()
    for (const run of ['a', 'b', 'c']) await waits(run)
    const { code, lines } = await claim('[ $RUNFOLD_RUN_ID != b ]', ['--loop'])
    expect(code).toBe(EXIT.notFound)
    const ends = lines
      .filter(({ event }) => event === 'ended')
      .map(({ run_id, exit_code }) => [run_id, exit_code])
    expect(ends).toEqual([
      ['a', 0],
      ['b', 1],
      ['c', 0],
    ])
    expect(existsSync(file('c', 'run.lvr'))).toBe(true)
  })

  it('that waits for runs ends well when it is told to', async () => {
    const { run } = await setUp()
    const told = AbortSignal.timeout(50)
    expect((await run(['claim', '--loop', '--exec', 'true', '--to', 'runs'], { signal: told })).code).toBe(
      EXIT.ok,
    )
  })
})

describe('release', () => {
  it('sends what is here, and another machine takes the run without force', async () => {
    const { waits, run, client, archive, folder } = await setUp()
    await waits('a')
    await run('resume a --to runs')
    appendFileSync(join(folder, 'runs/a/run.lvr'), frame)
    const { code, lines } = await run('release a --from runs --json')
    expect(code).toBe(EXIT.ok)
    expect(kindsOf(await archive('a')).slice(RECORDS.length)).toEqual([...OWNED, 'StatusChanged'])
    expect(lines[0]).toMatchObject({ run_id: 'a', epoch: 2, tail: (await archive('a')).length })
    expect((await client.leaseState('a')).lease).toBeNull()
    expect((await run('resume a --to elsewhere --wait 0')).code).toBe(EXIT.ok)
  })

  it('sends nothing of a file that is not what the server has, and takes no run from its holder', async () => {
    const { waits, run, client, archive, folder } = await setUp()
    await waits('a')
    mkdirSync(join(folder, 'runs/a'), { recursive: true })
    mkdirSync(join(folder, 'runs/nothing'))
    writeFileSync(join(folder, 'runs/a/run.lvr'), encodeArchive(RECORDS.slice(0, 1)))
    const before = await archive('a')
    expect((await run('release a --from runs')).code).toBe(EXIT.conflict)
    expect((await archive('a')).equals(before)).toBe(true)
    await client.acquire('a', OTHER)
    expect((await run('release a --from runs')).code).toBe(EXIT.held)
    expect((await run('release nothing --from runs')).code).toBe(EXIT.notFound)
    expect((await run('release b --from runs')).code).toBe(EXIT.usage)
  })
})

describe('resume', () => {
  it('says what it brought and what is missing here, and nothing secret', async () => {
    const { waits, run, folder } = await setUp()
    await waits('a')
    const { code, out, err } = await run('resume a --to runs --workdir /home/old=/tmp')
    expect(code).toBe(EXIT.ok)
    expect(out).toContain('a: taken over from owner/w, epoch 2')
    expect(out).toContain('2 tool calls were under way, 1 of them done')
    expect(out).toContain('shell (c2): no result')
    expect(err).toContain('agent_path /home/old/agents/agent is not on this machine')
    expect(out + err).not.toContain(SECRET)
    expect(JSON.parse(readFileSync(join(folder, 'runs/a/meta.json'), 'utf8')).workdir).toBe('/tmp/work')
  })

  it('waits for the lease no longer than it is told, and takes it by force', async () => {
    const { client, run } = await setUp()
    const { epoch } = await client.acquire('a', OWNER)
    await client.append('a', { offset: 0, epoch, bytes: encodeArchive(RECORDS) })
    const held = await run('resume a --to runs --wait 0')
    expect([held.code, held.err]).toEqual([EXIT.held, expect.stringContaining('owner/w holds')])
    expect((await run('resume a --to runs --force')).code).toBe(EXIT.ok)
    expect((await run('resume a --to runs')).out).toContain('this machine has it already')
    expect((await run('resume nothing --to runs')).code).toBe(EXIT.notFound)
  })

  it('tells by its lines as JSON what became of a file that was here', async () => {
    const { waits, run, folder } = await setUp()
    await waits('a')
    mkdirSync(join(folder, 'runs/a'), { recursive: true })
    writeFileSync(join(folder, 'runs/a/run.lvr'), encodeArchive(RECORDS.slice(0, 2).reverse()))
    const { lines } = await run('resume a --to runs --json')
    expect(lines[0]).toMatchObject({ outcome: 'resumed', former: { outcome: 'put_aside' }, missing: {} })
  })
})
