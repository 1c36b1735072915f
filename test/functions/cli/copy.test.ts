import { describe, expect, it } from 'vitest'
import { encodeFrame } from '#codec'
import { lostAnswer, type Server, startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn, demoBytes } from './kit.ts'

const OTHER = 'https://other.example'
const FROM_TO = `--from ${URL_OF_SERVER} --to ${OTHER}`
const MORE = encodeFrame(Buffer.from('{"StatusChanged":{"status":"running","at":9}}'))

const stored = async ({ client }: Server, run: string) => {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await client.archive(run)).chunks) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const put = async ({ client }: Server, run: string, bytes: Uint8Array) => {
  const { epoch, tail } = await client.acquire(run, { machine_id: 'm', world_id: 'w' })
  await client.append(run, { offset: tail, epoch, bytes: bytes.subarray(tail) })
  await client.release(run, epoch)
}

/** Two servers, and a CLI that reaches both. */
const between = async (maxBatchBytes?: number) => {
  const from = await startServer()
  const to = await startServer(maxBatchBytes)
  const fetch: typeof globalThis.fetch = (input, init) =>
    (new Request(input).url.startsWith(OTHER) ? to : from).fetch(input, init)
  const env = { RUNFOLD_FROM_TOKEN: from.token, RUNFOLD_TO_TOKEN: to.token }
  return { from, to, cli: cliIn({ fetch, env }) }
}

describe('copy', () => {
  it('brings every run to the other server, byte for byte, and gives the leases back', async () => {
    const { from, to, cli } = await between(20_000)
    const runs = { 'run-1': demoBytes(60), 'run-2': demoBytes(90, 2), 'run-3': demoBytes(5, 3) }
    for (const [run, bytes] of Object.entries(runs)) await put(from, run, bytes)
    const { code, lines } = await cli.run(`copy --all ${FROM_TO} --json`)
    expect(code).toBe(0)
    expect(lines.map(({ run_id, outcome }) => [run_id, outcome])).toEqual(
      Object.keys(runs).map((run) => [run, 'copied']),
    )
    for (const [run, bytes] of Object.entries(runs)) {
      expect(await stored(to, run)).toEqual(bytes)
      expect((await to.client.leaseState(run)).lease).toBeNull()
    }
  })

  it('sends only what is new, and nothing when nothing is', async () => {
    const { from, to, cli } = await between()
    const bytes = demoBytes(60)
    await put(from, 'run', bytes)
    await cli.run(`copy run ${FROM_TO}`)
    await put(from, 'run', Buffer.concat([bytes, MORE]))
    expect((await cli.run(`copy run ${FROM_TO} --json`)).lines[0]).toMatchObject({
      outcome: 'copied',
      from: bytes.length,
      tail: bytes.length + MORE.length,
    })
    to.requests.length = 0
    expect((await cli.run(`copy run ${FROM_TO} --json`)).lines[0]).toMatchObject({ outcome: 'unchanged' })
    expect(to.requests.filter((request) => !/^(HEAD|GET) /.test(request))).toEqual([])
  })

  it('stores a batch once whose answer was lost', async () => {
    const { from, to, cli } = await between(20_000)
    const bytes = demoBytes(60)
    await put(from, 'run', bytes)
    const send = to.fetch
    let isLost = false
    Object.assign(to, {
      fetch: (async (input, init) => {
        if (!isLost && new Request(input).url.includes('/frames')) {
          isLost = true
          to.mishaps.push(lostAnswer)
        }
        return send(input, init)
      }) as typeof fetch,
    })
    expect((await cli.run(`copy run ${FROM_TO}`)).code).toBe(0)
    expect(isLost).toBe(true)
    expect(await stored(to, 'run')).toEqual(bytes)
  })

  it('sends nothing where the two differ, and goes on with the others', async () => {
    const { from, to, cli } = await between()
    await put(from, 'other', demoBytes(20))
    await put(from, 'same', demoBytes(30, 2))
    await put(to, 'other', demoBytes(20, 5))
    const { code, out, err } = await cli.run(`copy other same ${FROM_TO}`)
    expect(code).toBe(8)
    expect(err).toContain('other: offset_conflict')
    expect(out).toContain('1 of 2 runs on the other server')
    expect(await stored(to, 'other')).toEqual(demoBytes(20, 5))
    expect(await stored(to, 'same')).toEqual(demoBytes(30, 2))
  })

  it('says where the other server is ahead', async () => {
    const { from, to, cli } = await between()
    const bytes = demoBytes(20)
    await put(from, 'run', bytes)
    await put(to, 'run', Buffer.concat([bytes, MORE]))
    expect((await cli.run(`copy run ${FROM_TO} --json`)).lines[0]).toMatchObject({ outcome: 'ahead' })
  })

  it('leaves a run to who holds it there', async () => {
    const { from, to, cli } = await between()
    await put(from, 'run', demoBytes(20))
    await to.client.acquire('run', { machine_id: 'else', world_id: 'w' })
    expect((await cli.run(`copy run ${FROM_TO}`)).code).toBe(6)
    expect((await cli.run(`copy run ${FROM_TO} --force`)).code).toBe(0)
  })

  it('shows no server a token that is meant for another', async () => {
    const { from, to, cli } = await between()
    await put(from, 'run', demoBytes(5))
    from.requests.length = 0
    const env = { RUNFOLD_URL: OTHER, RUNFOLD_TOKEN: to.token }
    const { code, err } = await cli.run(`copy run ${FROM_TO}`, { env })
    expect({ code, err }).toMatchObject({ code: 4, err: expect.stringContaining('set RUNFOLD_FROM_TOKEN\n') })
    expect([from.requests, to.requests]).toEqual([[], []])
    const both = { ...env, RUNFOLD_FROM_TOKEN: from.token }
    expect((await cli.run(`copy run ${FROM_TO}`, { env: both })).code).toBe(0)
  })

  it('wants runs or --all, and not both', async () => {
    const { cli } = await between()
    expect((await cli.run(`copy ${FROM_TO}`)).code).toBe(2)
    expect((await cli.run(`copy run --all ${FROM_TO}`)).code).toBe(2)
    expect((await cli.run(`copy no/run ${FROM_TO}`)).code).toBe(2)
  })
})
