import { expect, it } from 'vitest'
import { createOutput } from '../../../functions/cli/output.ts'
import { printFacts, printTable } from '../../../functions/cli/table.ts'
import { cut, padded, widthOf } from '../../../functions/cli/text-width.ts'
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

it('columns stand below each other and lines end where the terminal does, whatever script they are in', async () => {
  const { out, said } = terminal(24)
  const columns = [
    { title: 'TITLE', value: (row: string) => row, width: 12 },
    { title: 'N', value: () => 7, align: 'right' as const },
    { title: 'REST', value: (row: string) => row, width: 60 },
  ]
  await printTable(
    out,
    columns,
    ['plain', '日本語の修正', 'naïve e\u0301', '🚀🚀🚀🚀🚀🚀🚀🚀', '한국어'],
    'nothing',
  )
  for (const line of said) expect(widthOf(line.trimEnd()), line).toBeLessThanOrEqual(24)
  const places = said.slice(1).map((line) => widthOf(line.slice(0, line.indexOf('7'))))
  expect(places).toEqual(places.map(() => 14))
})

it('a text is as wide as what is seen of it', () => {
  expect(['', 'abc', '日本', 'e\u0301', '🚀', 'ｆ', '…→'].map(widthOf)).toEqual([0, 3, 4, 1, 2, 2, 2])
  expect(cut('🚀🚀🚀', 5)).toBe('🚀🚀…')
  expect(cut('🚀🚀🚀', 4)).toBe('🚀…')
  expect(cut('🚀🚀', 4)).toBe('🚀🚀')
  expect([cut('abcd', 3), cut('abc', 3), cut('abc', 1), cut('', 0)]).toEqual(['ab…', 'abc', '…', ''])
  expect(padded('日本', 6, 'right')).toBe('  日本')
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
