import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Mishap, startServer } from '../../shared/client/kit.ts'
import { cliOn, demoBytes } from './kit.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

describe('pull', () => {
  const pushed = async () => {
    const server = await startServer()
    const bytes = demoBytes(200)
    const cli = cliOn(server)
    cli.write('source.lvr', bytes)
    await cli.run('push source.lvr')
    return { server, bytes, ...cli, at: (name: string) => join(cli.folder, name) }
  }

  it('gives the very bytes back, for the eyes of their owner only', async () => {
    const { run, at, bytes } = await pushed()
    expect(await run('pull demo-1')).toMatchObject({ code: 0 })
    expect(readFileSync(at('demo-1.lvr'))).toEqual(bytes)
    expect(statSync(at('demo-1.lvr')).mode & 0o077).toBe(0)
    expect(existsSync(at('demo-1.lvr.part'))).toBe(false)
    expect((await run('pull demo-1 -')).bytes).toEqual(bytes)
  })

  it('does not take a folder for a file, and leaves nothing beside it', async () => {
    const { run, at, folder } = await pushed()
    mkdirSync(at('copies'))
    const before = readdirSync(folder)
    for (const line of ['pull demo-1 copies', 'pull demo-1 copies --force']) {
      expect(await run(line)).toMatchObject({ code: 2, err: expect.stringContaining('is a folder') })
    }
    expect(readdirSync(folder)).toEqual(before)
  })

  it('goes on where an interrupted pull stopped', async () => {
    const { run, at, bytes, write, server } = await pushed()
    write('copy.lvr.part', bytes.subarray(0, 5000))
    const { lines } = await run('pull demo-1 copy.lvr --json')
    expect(lines[0]).toMatchObject({ resumed_from: 5000, digest: sha256(bytes) })
    expect(readFileSync(at('copy.lvr'))).toEqual(bytes)
    expect(server.requests.at(-1)).toContain('/archive')
  })

  it('begins again when what an earlier pull left is of another archive', async () => {
    const { run, at, bytes, write } = await pushed()
    write('copy.lvr.part', Buffer.alloc(5000))
    expect(await run('pull demo-1 copy.lvr')).toMatchObject({ code: 0 })
    expect(readFileSync(at('copy.lvr'))).toEqual(bytes)
  })

  it('goes on by itself when the connection breaks in the middle', async () => {
    const { run, at, bytes, server } = await pushed()
    const cut: Mishap = async (_, answer) => {
      const { status, headers, body } = await answer()
      const whole = new Uint8Array(await new Response(body).arrayBuffer())
      const broken = new ReadableStream({
        start: (controller) => controller.enqueue(whole.subarray(0, 7000)),
        pull: (controller) => controller.error(new TypeError('terminated')),
      })
      return new Response(broken, { status, headers })
    }
    server.mishaps.push((_, answer) => answer(), cut, cut)
    expect(await run('pull demo-1')).toMatchObject({ code: 0 })
    expect(readFileSync(at('demo-1.lvr'))).toEqual(bytes)
  })

  it('leaves no file when the bytes are not what was promised', async () => {
    const { run, at, server } = await pushed()
    const forged: Mishap = async (_, answer) => {
      const { status, headers } = await answer()
      const length = Number(headers.get('content-length') ?? demoBytes(200).length)
      return new Response(new Uint8Array(length), { status, headers })
    }
    server.mishaps.push((_, answer) => answer(), forged)
    expect(await run('pull demo-1')).toMatchObject({ code: 1 })
    expect(existsSync(at('demo-1.lvr'))).toBe(false)
  })

  it('does not replace a file unasked, nor fill a terminal with bytes', async () => {
    const { run, at, bytes } = await pushed()
    expect(await run('pull demo-1 source.lvr')).toMatchObject({ code: 2 })
    expect(await run('pull demo-1 -', { isTerminal: true })).toMatchObject({ code: 2, out: '' })
    writeFileSync(at('source.lvr'), 'old')
    expect(await run('pull demo-1 source.lvr --force')).toMatchObject({ code: 0 })
    expect(readFileSync(at('source.lvr'))).toEqual(bytes)
  })
})
