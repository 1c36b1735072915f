import { expect, it } from 'vitest'
import { secretsIn } from '../../../functions/daemon/secrets.ts'

const TOKEN = ['ghp', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('_')

it.each([
  'secretlint-disable',
  '// secretlint-disable',
  '<!-- secretlint-disable -->',
  '// secretlint-disable @secretlint/secretlint-rule-github',
])('a secret is found behind a text that would switch the looking off: %s', async (text) => {
  const found = await secretsIn(`${text}\n${TOKEN}`)
  expect(found.map(({ family }) => family)).toEqual(['GITHUB_TOKEN'])
})
