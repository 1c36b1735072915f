import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { EXIT } from '../../../functions/cli/exit-codes.ts'
import { describeShared, sharedPath } from '../../kit/shared-folder.ts'
import { startServer, URL_OF_SERVER } from '../../shared/client/kit.ts'
import { cliIn } from './kit.ts'

const LINES = [
  'records --json',
  'replay --json --shape delta',
  'replay --json --shape full',
  'replay --json --step 2',
  'fold --json',
]

/** The server names a run by its path, a file by its Header. */
const withoutRunId = (text: string) => text.replace(/^\{"run_id":"[^"]*"/, '{')

describeShared('every golden archive', () => {
  it.each(['cases', 'seed', 'head'])(
    '%s: what was pushed comes back, and reads the same on both sides',
    async (set) => {
      const folder = sharedPath(`format/golden/${set}/`)
      const server = await startServer()
      const { run, write } = cliIn({
        fetch: server.fetch,
        env: { RUNFOLD_URL: URL_OF_SERVER, RUNFOLD_TOKEN: server.token },
      })
      let compared = 0
      for (const name of readdirSync(folder).filter((each) => each.endsWith('.lvr'))) {
        const bytes = readFileSync(join(folder, name))
        const file = write(name, bytes)
        const id = name.slice(0, -'.lvr'.length)
        const { code, lines } = await run(['push', file, '--run', id, '--json'])
        if (code === EXIT.badInput) continue
        expect([EXIT.ok, EXIT.torn], name).toContain(code)
        const { tail } = lines[0] as { tail: number }
        expect((await run(['pull', id, '-'])).bytes.equals(bytes.subarray(0, tail)), name).toBe(true)
        for (const line of LINES) {
          const [verb = '', ...rest] = line.split(' ')
          const [here, there] = [await run([verb, file, ...rest]), await run([verb, id, ...rest])]
          expect([there.code, withoutRunId(there.out)], `${line} of ${name}`).toEqual([
            here.code,
            withoutRunId(here.out),
          ])
        }
        compared++
      }
      expect(compared).toBeGreaterThan(0)
    },
    60_000,
  )
})
