import { describe, expect, it } from 'vitest'
import { encodeFrame } from '#codec'
import { harmlessJson, manyLines, oneLine } from '../../../functions/cli/terminal-text.ts'
import { cliIn, demoBytes } from './kit.ts'

const EVIL = '\u001b]0;pwned\u0007\u009b31m\u202egnp\r\u0008'
const HARMFUL = /(?!\n)\p{Cc}|[\u202a-\u202e]/u

const evilArchive = () => {
  const message = JSON.stringify({
    Message: { message: { role: 'user', content: `hi ${EVIL}\nthere` }, at: 1 },
  })
  const raw = message.replaceAll('\\u009b', '\u009b')
  return Buffer.concat([Buffer.from('LVR1\0\u0001'), encodeFrame(Buffer.from(raw))])
}

describe('what reaches a terminal', () => {
  it('is never an escape sequence or direction mark out of a record', async () => {
    const { run, write } = cliIn({ isTerminal: true, env: { NO_COLOR: '1' } })
    write('evil.lvr', evilArchive())
    for (const line of ['records evil.lvr', 'records evil.lvr --json']) {
      const { out } = await run(line)
      expect(out).toContain('hi')
      expect(out).not.toMatch(HARMFUL)
    }
  })

  it('is the same JSON value in another spelling', async () => {
    const { run, write } = cliIn()
    write('evil.lvr', evilArchive())
    const plain = await run('records evil.lvr --json')
    const shown = await run('records evil.lvr --json', { isTerminal: true })
    expect(shown.lines).toEqual(plain.lines)
    expect(shown.out).not.toBe(plain.out)
  })

  it('has colours only there, and none with NO_COLOR', async () => {
    const { run, write } = cliIn()
    write('run.lvr', demoBytes(30))
    expect((await run('fold run.lvr')).out).not.toContain('\u001b')
    expect((await run('fold run.lvr', { isTerminal: true })).out).toContain('\u001b[')
    expect((await run('fold run.lvr', { isTerminal: true, env: { NO_COLOR: '1' } })).out).not.toContain(
      '\u001b',
    )
  })

  it('spells what cannot be shown', () => {
    expect(oneLine('a\tb\r\nc\u001b[2J')).toBe('a b c\\u001b[2J')
    expect(manyLines('a\nb\u0007')).toBe('a\nb\\u0007')
    expect(harmlessJson('{"a":"\u009b"}\n')).toBe('{"a":"\\u009b"}\n')
  })
})
