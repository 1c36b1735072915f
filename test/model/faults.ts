import { parseArgs } from 'node:util'
import { bytesOf, contend, contendedArchive, wantedBytes } from '../kit/contention.ts'
import { FAULTS, type FaultProxy, seededFaults, startFaultProxy } from '../kit/fault-proxy.ts'
import { portsOf, startStandIns } from '../kit/stand-ins.ts'

// Ten thousand appends by eight writers through the real SDK clients, while one request in twenty goes wrong in every way
// the proxy knows; afterwards each batch stands once where its writer was told. Ends with 1 where one does not.

const HELP = `npm run test:faults -- [--json] [--appends N] [--seed N] [--apart]

  --json      the last line is a flat object: appends, faults, kinds, objects, broken, seconds
  --appends   in all; 10000 unless told
  --seed      of the faults
  --apart     each writer has a run of its own`

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    appends: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    apart: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
})
const FAULT_RATE = 0.05
/** Four runs of two writers each, who are in each other's way; with `--apart` eight of one. */
const RUNS = values.apart ? 8 : 4
const WRITERS_A_RUN = values.apart ? 1 : 2
const PASS_EVERY = 100

if (values.help) {
  console.log(HELP)
  process.exit(0)
}
const say = values.json ? console.error : console.log
const seed = Number(values.seed)
const batches = Math.ceil(Number(values.appends) / (RUNS * WRITERS_A_RUN))
const began = performance.now()

const standIns = await startStandIns()
const proxies: FaultProxy[] = []
const proxy = async (target: string) => {
  const made = await startFaultProxy(target, seededFaults(seed + proxies.length, FAULT_RATE))
  proxies.push(made)
  return made.endpoint
}
const dynamodb = await proxy(standIns.dynamodb)
const faulty = portsOf({ s3: await proxy(standIns.s3), dynamodb })
const upkeep = portsOf({ s3: await proxy(standIns.s3), dynamodb })
const honest = portsOf(standIns)
const found = contendedArchive(honest)

async function play(run_id: string): Promise<{ objects: number; isBroken: boolean }> {
  const told = await contend(
    { faulty, upkeep },
    { run_id, writers: WRITERS_A_RUN, batches, passEvery: PASS_EVERY },
  )
  const run = { tenant: 'default', run_id }
  const wanted = wantedBytes(told)
  const { answer } = await found.run(run)
  const isBroken = Buffer.compare(await bytesOf(found, run), wanted) !== 0
  say(
    `${isBroken ? 'BROKEN' : 'sound '}  ${run_id}: ${answer.frames} frames, ${answer.stored.objects} objects`,
  )
  return { objects: answer.stored.objects, isBroken }
}
const runs = await Promise.all(Array.from({ length: RUNS }, (_, n) => play(`contended-${n}`)))

const counts = new Map(FAULTS.map((fault) => [fault, 0]))
for (const { faults } of proxies)
  for (const [fault, count] of faults) counts.set(fault, (counts.get(fault) ?? 0) + count)
const figures = {
  appends: RUNS * WRITERS_A_RUN * batches,
  faults: [...counts.values()].reduce((sum, count) => sum + count, 0),
  kinds: [...counts.values()].filter((count) => count > 0).length,
  objects: runs.reduce((sum, { objects }) => sum + objects, 0),
  broken: runs.filter(({ isBroken }) => isBroken).length,
  seconds: Math.round((performance.now() - began) / 1000),
}
for (const [name, value] of Object.entries(figures)) say(`  ${name.padEnd(8)} ${value}`)
if (values.json) console.log(JSON.stringify(figures))

for (const ports of [faulty, upkeep, honest]) ports.close()
for (const { stop } of proxies) await stop()
await standIns.stop()
process.exitCode = figures.broken > 0 ? 1 : 0
