import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { cliIn } from './kit.ts'

const root = new URL('../../../', import.meta.url)
const pages = ['README.md', ...readdirSync(new URL('docs/', root)).map((name) => `docs/${name}`)]
const texts = pages
  .filter((name) => /\.(md|service|plist)$/.test(name))
  .map((name) => ({ name, text: readFileSync(new URL(name, root), 'utf8') }))

/** Calls of the CLI in running text, in code and in units; a call ends where its code or its line does. */
const CALL = /(?:(?:`|\$\(|exec |env )(?:npx )?runfold|npm run -s cli --) ([a-z][^`\n#|)<]*)/g
const calls = texts.flatMap(({ name, text }) =>
  [...text.matchAll(CALL)].map(([, call = '']) => ({ name, words: call.trim().split(/\s+/) })),
)

it('the commands and options that the documents name are there', async () => {
  const { run } = cliIn({})
  const helps = new Map<string, string>()
  const helpOf = async (command: string) => {
    const known = helps.get(command)
    if (known !== undefined) return known
    const { out } = await run(`${command} --help`)
    helps.set(command, out)
    return out
  }
  for (const { name, words } of calls) {
    const [verb = '', noun = ''] = words
    const isGroup = (await helpOf(verb)).includes('Commands:')
    const command = isGroup && /^[a-z]+$/.test(noun) ? `${verb} ${noun}` : verb
    const help = await helpOf(command)
    expect(help, `${name}: ${words.join(' ')}`).toContain(`Usage: runfold ${command} `)
    for (const option of words.filter((word) => /^--?[a-z]/.test(word)))
      expect(help, `${name}: ${words.join(' ')}`).toMatch(new RegExp(`(^|\\s)${option}(?=[\\s,])`))
  }
  expect(calls.length).toBeGreaterThan(30)
})
