import { expect, it } from 'vitest'
import { cliIn } from '../functions/cli/kit.ts'

// `--json` promises "errors too", but what the command line itself had wrong came as words: a script that parsed
// standard error failed on the very errors it makes most.

it('gives errors of the command line as JSON with --json, wherever it stands, and help as help', async () => {
  const { run } = cliIn()
  for (const line of ['fold run.lvr --seq x --json', '--json fold', 'bogus --json', 'ls --json --nope']) {
    const { code, out, err } = await run(line)
    expect(JSON.parse(err)).toMatchObject({
      code: 'usage',
      detail: expect.not.stringMatching(/^error/),
      exit_code: 2,
    })
    expect([code, out]).toEqual([2, ''])
  }
  expect(await run('fold --help --json')).toMatchObject({ code: 0, err: '' })
  expect((await run('fold run.lvr --seq x')).err).toMatch(/^runfold: option '--seq <n>'/)
})
