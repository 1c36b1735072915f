import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { LARGE } from './large.ts'
import { PLANTS } from './plants.ts'
import { type Effort, findPlanted } from './play.ts'
import { SMALL } from './small.ts'

// The archive's own code under every order of its steps: each scenario is played through, or as far as its bounds go, and
// every history is held to the promises (test/kit/model-check.ts). Ends with 1 when one is broken, and tells its story.

const HELP = `npm run test:model -- [--json] [--long] [--seed N] [--only TEXT]

  --json   the last line is a flat object: schedules, planted_bugs, planted_bugs_found, seconds
  --long   more faults, more interruptions, more samples: an hour or more
  --seed   of the sampled histories; the same seed plays the same ones
  --only   scenarios whose name has this in it`

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit(0)
}

const effort: Effort = { isLong: values.long, seed: Number(values.seed) }
const say = values.json ? console.error : console.log
const began = performance.now()
let schedules = 0
let failures = 0

const wanted = (name: string) => name.includes(values.only)
/** The large ones first, so that no processor waits for the last of them alone. */
const scenarios = [...Object.keys(LARGE), ...Object.keys(SMALL)].filter(wanted)

async function work(): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url))
  for (let name = scenarios.shift(); name !== undefined; name = scenarios.shift()) {
    worker.postMessage({ name, effort })
    const [result] = (await once(worker, 'message')) as [{ schedules?: number; failure?: string }]
    schedules += result.schedules ?? 0
    if (result.failure === undefined) {
      say(`${String(result.schedules).padStart(8)}  ${name}`)
    } else {
      failures++
      say(`  BROKEN  ${name}\n${result.failure}`)
    }
  }
  await worker.terminate()
}
await Promise.all(Array.from({ length: availableParallelism() }, work))

const planted = Object.keys(PLANTS).filter(wanted)
let found = 0
for (const name of planted) {
  const story = await findPlanted(name)
  if (story) found++
  say(`${story ? '   found' : '  MISSED'}  ${name}`)
}

const seconds = Math.round((performance.now() - began) / 1000)
say(
  `\n${schedules} schedules, ${failures} broken; ${found} of ${planted.length} planted bugs found; ${seconds} s`,
)
if (values.json) {
  console.log(JSON.stringify({ schedules, planted_bugs: planted.length, planted_bugs_found: found, seconds }))
}
process.exitCode = failures > 0 || found < planted.length ? 1 : 0
