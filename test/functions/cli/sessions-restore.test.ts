import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { placeOf } from '../../../functions/daemon/restore-place.ts'
import { archived, ID, TRANSCRIPT } from './sessions-kit.ts'

describe('restore', () => {
  it('writes every file back byte for byte, for another folder, and is done when it is run again', async () => {
    const { run, folder } = await archived()
    const command = `sessions restore 5e55 --to-dir other/.claude --cwd /home/me/my.site`
    expect((await run(command)).code).toBe(0)
    const home = join(folder, 'other/.claude/projects/-home-me-my-site')
    expect(readFileSync(join(home, `${ID}.jsonl`), 'utf8')).toBe(TRANSCRIPT)
    expect(readFileSync(join(home, ID, 'tool-results/a.txt'), 'utf8')).toBe('what was moved')
    expect(statSync(join(home, `${ID}.jsonl`)).mode & 0o777).toBe(0o600)
    expect((await run(command)).err).toContain('is there')
  })

  it('touches nothing where other content lies, and writes through no link', async () => {
    const { run, folder, write } = await archived()
    write(`other/.claude/projects/-w/${ID}.jsonl`, 'somebody else wrote this')
    const refused = await run('sessions restore 5e55 --to-dir other/.claude')
    expect(refused).toMatchObject({ code: 8, err: expect.stringContaining('it is not touched') })
    expect(existsSync(join(folder, `other/.claude/projects/-w/${ID}`))).toBe(false)

    mkdirSync(join(folder, 'outside'))
    mkdirSync(join(folder, 'linked/.claude'), { recursive: true })
    symlinkSync(realpathSync(join(folder, 'outside')), join(folder, 'linked/.claude/projects'))
    expect((await run('sessions restore 5e55 --to-dir linked/.claude')).code).toBe(8)
    expect(existsSync(join(folder, 'outside/-w'))).toBe(false)
  })

  it('refuses in words what is a file where a folder should be', async () => {
    const { run, write } = await archived()
    write('other/projects', 'a file')
    for (const home of ['other', 'other/projects', 'other/projects/deeper'])
      expect(await run(`sessions restore 5e55 --to-dir ${home}`), home).toMatchObject({
        code: 8,
        err: expect.stringContaining('is not a folder'),
      })
  })

  it('done twice at once is done once', async () => {
    const { run, folder } = await archived()
    const command = 'sessions restore 5e55 --to-dir other/.claude'
    const both = await Promise.all([run(command), run(command)])
    expect(both.map(({ code }) => code)).toEqual([0, 0])
    const home = join(folder, 'other/.claude/projects/-w')
    expect(readFileSync(join(home, `${ID}.jsonl`), 'utf8')).toBe(TRANSCRIPT)
    expect(readdirSync(home).sort()).toEqual([ID, `${ID}.jsonl`])
  })

  it('places the files of each harness where it looks for them', () => {
    const cwd = '/home/me/lanternfish'
    expect(placeOf({ harness: 'codex', id: 'x', cwd }, 'rollout-2026-11-03T09-12-44-x.jsonl')).toBe(
      'sessions/2026/11/03/rollout-2026-11-03T09-12-44-x.jsonl',
    )
    expect(placeOf({ harness: 'kimi-code', id: 'x', cwd }, 'agents/main/wire.jsonl')).toBe(
      'sessions/wd_lanternfish_919256cfeb59/session_x/agents/main/wire.jsonl',
    )
    for (const path of ['../x.jsonl', '/etc/passwd', 'a/../../x'])
      expect(() => placeOf({ harness: 'claude-code', id: 'x', cwd }, path)).toThrow()
  })
})
