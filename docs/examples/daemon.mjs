// A daemon in a page: it works on a run step by step, can be killed at any moment, and is carried on by another.
//
//   RUNFOLD_URL=http://127.0.0.1:8080 RUNFOLD_TOKEN=… node daemon.mjs <run> <machine> [steps]
//
// Plain fetch and no library, to be read beside ../RESUME.md. Run it twice, on two machines or in two terminals, and kill one.

import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const [run, machine_id, steps = '10'] = process.argv.slice(2)
const { RUNFOLD_URL, RUNFOLD_TOKEN, STEP_MS = '200' } = process.env
if (!(machine_id && RUNFOLD_URL && RUNFOLD_TOKEN))
  stop(2, 'RUNFOLD_URL=… RUNFOLD_TOKEN=… node daemon.mjs <run> <machine> [steps]')
const world_id = randomUUID() // of this process: after a restart we are another owner
const now = () => Math.floor(Date.now() / 1000)

/** Asks until there is an answer; every request here may be sent again (an append at the same offset is stored once). */
async function ask(method, path, { json, body } = {}) {
  for (let wait = 250; ; wait = Math.min(wait * 2, 5000)) {
    try {
      const answer = await fetch(`${RUNFOLD_URL}/v1/runs/${run}${path}`, {
        method,
        body: json ? JSON.stringify(json) : body,
        headers: {
          authorization: `Bearer ${RUNFOLD_TOKEN}`,
          'content-type': json ? 'application/json' : 'application/vnd.runfold.lvr1',
        },
      })
      if (answer.status < 500)
        return { status: answer.status, ...(answer.status === 204 ? {} : await answer.json()) }
    } catch {
      // No network, or the answer was lost.
    }
    await pause(wait)
  }
}

/** 8 bytes of length, then the record as compact JSON. */
function frame(record) {
  const payload = Buffer.from(JSON.stringify(record))
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(BigInt(payload.length))
  return Buffer.concat([length, payload])
}

async function takeLease() {
  for (;;) {
    const answer = await ask('POST', '/lease', { json: { machine_id, world_id, ttl_s: 5, wait_s: 20 } })
    if (answer.code === undefined) return answer
    if (answer.code !== 'lease_held') stop(1, `${answer.code}: ${answer.detail}`)
    console.log(`${answer.lease.machine_id} has the run; waiting`)
  }
}

const lease = await takeLease()
let { epoch, tail } = lease

/** Appends records at the tail. An answer that was lost is repaired by sending the same bytes to the same place. */
async function append(...records) {
  const body = Buffer.concat([...(tail === 0 ? [Buffer.from('LVR1\0\x01')] : []), ...records.map(frame)])
  const answer = await ask('POST', `/frames?offset=${tail}&epoch=${epoch}`, { body })
  if (answer.status === 200) tail = answer.tail
  else if (answer.code === 'fenced') stop(7, `another has the run: ${JSON.stringify(answer.lease)}`)
  else stop(1, `${answer.code}: ${answer.detail}`)
}

function stop(code, text) {
  console.log(text)
  process.exit(code)
}

/** What the step does in the world. It is safe to do twice; where that is not so, find out first whether it was done. */
function work(call) {
  if (process.env.WORK_FILE) appendFileSync(process.env.WORK_FILE, `${machine_id} ${call.id}\n`)
  return `${call.id} done`
}

const region = { name: 'steps', kind: 'history', current_tokens: 0, max_tokens: 1000 }
const window = { stage_name: 'work', total_tokens: 0, max_tokens: 1000, regions: [region] }
let meta = {
  ...{
    run_id: run,
    agent_name: 'example',
    agent_path: '/agents/example',
    task: 'count',
    model: null,
    pid: 0,
  },
  ...{
    status: 'running',
    current_stage: 'work',
    stage_index: 0,
    num_stages: 1,
    iteration: 0,
    prompt_tokens: 0,
  },
  ...{ completion_tokens: 0, workdir: process.cwd(), started_at: now(), updated_at: now() },
}
let pending = null

if (tail === 0) {
  // A new run: who it is, and the window it starts with.
  const identity = { run_id: run, machine_id, world_id, created_at: now() }
  await append({ Header: { identity, meta } }, { ContextCheckpoint: { snapshot: window, at: now() } })
} else {
  // Somebody else's run: where it stands, then that it is ours now and what its window is.
  const { folded } = await ask('GET', '/fold?parts=meta,context,pending_batch')
  ;({ meta, pending_batch: pending } = folded)
  if (['complete', 'error', 'cancelled'].includes(meta.status)) stop(0, `the run has ended: ${meta.status}`)
  await append(
    { OwnershipChanged: { machine_id, world_id, at: now() } },
    { ContextCheckpoint: { snapshot: folded.context, at: now() } },
  )
  console.log(`took the run over at iteration ${meta.iteration}`)
}

while (meta.iteration < Number(steps)) {
  const { iteration } = meta
  const call = pending?.calls[0] ?? {
    id: `step-${iteration + 1}`,
    name: 'step',
    arguments: '{}',
    result: null,
  }
  // What is about to be done stands in the journal before it is done, and its result as soon as there is one.
  if (!pending)
    await append({ ToolBatch: { calls: [call], at: now(), stage_index: 0, iteration, response: '' } })
  if (call.result === null) {
    call.result = work(call)
    await append({ ToolCallDone: { iteration, call_id: call.id, result: call.result, at: now() } })
  }
  pending = null
  meta = { ...meta, iteration: iteration + 1, updated_at: now() }
  const entry = { content: call.result, tokens: 1, kind: { type: 'Text' }, taint: 'Internal' }
  const grown = { Append: { name: 'steps', entries: [entry], current_tokens: iteration + 1 } }
  const delta = { stage_name: 'work', total_tokens: iteration + 1, max_tokens: 1000, regions: [grown] }
  await append({ Progress: { meta, delta, at: now() } })
  console.log(`iteration ${meta.iteration}`)
  await pause(Number(STEP_MS)) // each append renews the lease; who pauses longer than it lasts sends PUT /lease
}
await append({ StatusChanged: { status: 'complete', at: now() } })
await ask('DELETE', `/lease?epoch=${epoch}`)
console.log('complete')
