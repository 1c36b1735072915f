import { expect, it } from 'vitest'
import { cliIn } from './kit.ts'

it('a command of a group is explained, not the group', async () => {
  const { run } = cliIn()
  for (const words of ['lease acquire', 'token make', 'sessions show', 'fold']) {
    const { code, out } = await run(`help ${words}`)
    expect([code, out]).toEqual([0, (await run(`${words} --help`)).out])
  }
  expect((await run('help')).out).toBe((await run('--help')).out)
})

it('of a command that is not there it is said that it is not', async () => {
  const { run } = cliIn()
  for (const words of ['nonsense', 'lease nonsense', 'fold nonsense']) {
    const { code, out, err } = await run(`help ${words}`)
    expect([code, out]).toEqual([2, ''])
    expect(err).toBe(`runfold: there is no command ${words}; runfold help names them all\n`)
  }
})

it('no line of a help is longer than a terminal of 80 columns', async () => {
  const { run } = cliIn({ columns: 80 })
  const named = async (group: string): Promise<string[]> => {
    const { out } = await run(`help${group}`)
    const commands = /\nCommands:\n([\s\S]*?)(\n\n|$)/.exec(out)?.[1] ?? ''
    return [...commands.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => `${group} ${name}`)
  }
  const groups = [' lease', ' token', ' sessions']
  const all = ['', ...(await named('')), ...(await Promise.all(groups.map(named))).flat()]
  expect(all.length).toBeGreaterThan(40)
  for (const words of all.filter((each) => !each.endsWith(' help'))) {
    const { out } = await run(`help${words}`)
    const long = out.split('\n').filter((line) => line.length > 80 && !line.startsWith('  $ '))
    expect(long, words).toEqual([])
  }
})
