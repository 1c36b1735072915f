import { expect, it } from 'vitest'
import { createOutput } from '../../../functions/cli/output.ts'
import { printFacts, printTable } from '../../../functions/cli/table.ts'
import { cliIn, demoBytes } from './kit.ts'

const terminal = (columns: number, env: Readonly<Record<string, string>> = { NO_COLOR: '1' }) => {
  const said: string[] = []
  const write = async (text: string | Uint8Array) => void said.push(String(text))
  return { out: createOutput({ write, isTerminal: true, columns }, env), said }
}

it('a heading is cut where the terminal ends, as its rows are', async () => {
  const { out, said } = terminal(20)
  const columns = ['FIRST', 'SECOND', 'THIRD', 'FOURTH'].map((title) => ({ title, value: () => 'something' }))
  await printTable(out, columns, [1, 2], 'nothing')
  expect(said).toHaveLength(3)
  for (const line of said) expect(line.trimEnd().length).toBeLessThanOrEqual(20)
})

it('the colour of a value is no harmful text', async () => {
  const { out, said } = terminal(80, {})
  await printFacts(out, [
    ['verdict', 'sound', 'green'],
    ['title', '\u001b[31mred'],
  ])
  expect(said[0]).toContain('\u001b[32msound\u001b[39m')
  expect(said[1]).toContain('\\u001b[31mred')
})

it('verify says its verdict in colour on a terminal', async () => {
  const { run, write } = cliIn({ isTerminal: true })
  write('run.lvr', demoBytes(10))
  write('torn.lvr', demoBytes(10).subarray(0, -1))
  expect((await run('verify run.lvr')).out).toContain('\u001b[32msound')
  expect((await run('verify torn.lvr')).out).toContain('\u001b[31mdamaged')
  expect((await run('verify torn.lvr')).out).not.toContain('\\u001b')
})
