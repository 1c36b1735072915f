import { createSessionArchive } from '#sessions/archive'
import { createArchive, createTokens, meter, systemClock } from '#store'
import { awsTariff } from '#store/aws'
import { openLocalStore } from '#store/local'
import { createApp } from '../../functions/api/app.ts'
import { LOCAL_LIMITS } from '../../functions/api/limits.ts'
import { QUESTIONS, RUNS, type Run } from './questions.ts'
import { TOKEN } from './server.ts'

// Reads of one kind of one run in a process of its own: `read-task.ts FOLDER RUN QUESTION` prints {seconds, peakBytes, requests, bytes},
// the requests and bytes being those of one read. Every read is cold: its archive has folded nothing before.

const READS = 12

const [folder = '', run = '', question = ''] = process.argv.slice(2)
const frames = RUNS[run as Run]
const ask = QUESTIONS[question]
if (frames === undefined || !ask) throw new Error(`no such read: ${run} ${question}`)

const { ports, close } = await openLocalStore(folder)
const parts = { clock: systemClock, limits: LOCAL_LIMITS }
const metered = meter(ports, awsTariff)
const tokens = createTokens(ports.tokens, systemClock)
await tokens.install(TOKEN)
const idle = process.memoryUsage.rss()
const began = performance.now()
for (let read = 0; read < READS; read++) {
  const app = createApp({
    archive: createArchive(metered.ports, parts),
    sessions: createSessionArchive(ports, parts),
    tokens,
    ...parts,
    features: [],
    version: 'bench',
  })
  const path = `http://127.0.0.1/v1/runs/${run}/${ask((read * 0.618_034) % 1, frames)}`
  const answer = await app.fetch(new Request(path, { headers: { authorization: `Bearer ${TOKEN}` } }))
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
const seconds = (performance.now() - began) / 1000
const { get, item_read } = metered.readings()
close()
console.log(
  JSON.stringify({
    seconds,
    peakBytes: Math.max(0, process.resourceUsage().maxRSS * 1024 - idle),
    requests: (get.requests + item_read.requests) / READS,
    bytes: get.bytes / READS,
  }),
)
