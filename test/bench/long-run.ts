import { PREAMBLE } from '#codec'
import { createArchive, createMaintainer, systemClock } from '#store'
import { openLocalStore } from '#store/local'
import { frameOf, LIMITS } from '../kit/stored-run.ts'

// Runs of any number of small frames, written straight into a local store: a turn is a tool batch, its result, an
// inference and a progress whose window is some 40 KB and is compacted now and then.

const BATCH_BYTES = 4 * 1024 * 1024
const COMPACTED_AFTER = 80
const BRIEF = 'What the agent was told at first, which stays in its window. '.repeat(500)

const metaOf = (n: number) =>
  `{"run_id":"r","agent_name":"bench","agent_path":"/agents/bench","task":"count","model":"m","pid":1,"status":"running","current_stage":"work","stage_index":0,"num_stages":1,"iteration":${n},"prompt_tokens":${n},"completion_tokens":${n},"cached_tokens":0,"cache_write_tokens":0,"tool_calls":${n},"workdir":"/w","started_at":1,"updated_at":${n},"last_progress_at":null,"error":null,"title":null,"title_error":null,"metadata":{},"callback_url":null,"callback_secret":null,"parent_run_id":null,"children":[],"depth":0,"max_child_depth":0}`

const entryOf = (content: string) =>
  `{"content":"${content}","tokens":9,"kind":{"type":"Text"},"taint":"Internal"}`
const regionOf = (name: string, entries: string) =>
  `{"name":"${name}","kind":"k","current_tokens":9,"max_tokens":99,"entries":[${entries}]}`
const windowOf = (regions: string) =>
  `{"stage_name":"work","total_tokens":9,"max_tokens":99,"regions":[${regions}]}`

function* frames(count: number): Generator<Uint8Array> {
  yield frameOf(
    `{"Header":{"identity":{"run_id":"r","machine_id":"m","world_id":"w","created_at":1},"meta":${metaOf(0)}}}`,
  )
  const first = `${regionOf('brief', entryOf(BRIEF))},${regionOf('talk', '')}`
  yield frameOf(`{"ContextCheckpoint":{"snapshot":${windowOf(first)},"at":1}}`)
  for (let n = 2; n < count; n++) yield frameOf(recordOf(n >> 2, n & 3))
}

function recordOf(turn: number, step: number): string {
  if (step === 0) {
    return `{"ToolBatch":{"calls":[{"id":"c${turn}","name":"shell","arguments":"{}","result":null}],"at":${turn},"stage_index":0,"iteration":${turn},"response":"go on"}}`
  }
  if (step === 1) {
    return `{"ToolCallDone":{"iteration":${turn},"call_id":"c${turn}","result":"done","at":${turn}}}`
  }
  if (step === 2) {
    return `{"InferenceUsage":{"kind":"stage","stage":"work","iteration":${turn},"provider":"p","model":"m","prompt_tokens":9,"completion_tokens":9,"cached_tokens":0,"cache_write_tokens":0,"at":${turn}}}`
  }
  const entry = entryOf(`turn ${turn}: it was done, and there is a little more to say about it`)
  const operation =
    turn % COMPACTED_AFTER === 0
      ? `{"Set":${regionOf('talk', entry)}}`
      : `{"Append":{"name":"talk","entries":[${entry}],"current_tokens":9}}`
  return `{"Progress":{"meta":${metaOf(turn)},"delta":${windowOf(operation)},"at":${turn}}}`
}

/** Writes runs of these lengths into the folder, merged and with their snapshots, as maintenance leaves a run at rest. */
export async function writeLongRuns(
  folder: string,
  lengths: Readonly<Record<string, number>>,
): Promise<void> {
  // What is measured is reading, so nothing waits for the disk here.
  const { ports, close } = await openLocalStore(folder, { sync: async () => {} })
  try {
    const archive = createArchive(ports, { clock: systemClock, limits: LIMITS })
    const maintainer = createMaintainer(ports, systemClock, { graceMs: 0 })
    for (const [run_id, count] of Object.entries(lengths)) {
      const run = { tenant: 'default', run_id }
      const { epoch } = (await archive.acquire(run, { machine_id: 'bench', world_id: run_id })).answer
      let offset = 0
      for (const bytes of inBatches(frames(count))) {
        offset = (await archive.append(run, { offset, epoch, bytes })).tail
        await maintainer.pass()
      }
      await archive.release(run, epoch)
    }
    while ((await ports.index.due(Date.now(), 1)).length > 0) await maintainer.pass()
  } finally {
    close()
  }
}

function* inBatches(source: Iterable<Uint8Array>): Generator<Uint8Array> {
  let batch: Uint8Array[] = [PREAMBLE]
  let bytes = 0
  for (const frame of source) {
    batch.push(frame)
    bytes += frame.length
    if (bytes < BATCH_BYTES) continue
    yield Buffer.concat(batch)
    batch = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(batch)
}
