import { readArchive, readRecord } from '#codec'
import type { LeaseState } from '#schema'
import type { Machine } from './machine.ts'

/** What was found wrong, and how much there was to go wrong. */
export interface Verdict {
  /** Acknowledged archives that are not there, and frames of the last owner that are not. */
  readonly lost: number
  /** Frames that stand in an archive twice. */
  readonly doubled: number
  /** Bytes of frames whose writer was not the owner where they stand. */
  readonly fenced_bytes: number
  /** Changes of the owner as the archives tell them. */
  readonly takeovers: number
  readonly frames: number
  /** Sentences for whoever has to find out. */
  readonly wrong: readonly string[]
}

interface Outcome {
  readonly run: string
  /** As it is on the server. */
  readonly archive: Buffer
  readonly machines: readonly Machine[]
  readonly owner: Machine
  readonly history: LeaseState['history']
}

export const judge = (outcomes: readonly Outcome[]): Verdict => {
  const verdicts = outcomes.map(judgeRun)
  const sum = (name: 'lost' | 'doubled' | 'fenced_bytes' | 'takeovers' | 'frames') =>
    verdicts.reduce((total, verdict) => total + verdict[name], 0)
  return {
    lost: sum('lost'),
    doubled: sum('doubled'),
    fenced_bytes: sum('fenced_bytes'),
    takeovers: sum('takeovers'),
    frames: sum('frames'),
    wrong: verdicts.flatMap(({ wrong }) => wrong),
  }
}

const judgeRun = (outcome: Outcome): Verdict => {
  const { run, archive, machines, owner, history } = outcome
  const wrong: string[] = []
  let lost = 0
  for (const machine of machines) {
    const tail = machine.acked.get(run) ?? 0
    const isThere = machine.filesOf(run).some((file) => startsAlike(file, archive, tail))
    if (tail === 0 || isThere) continue
    lost++
    wrong.push(`${run}: ${machine.id} was told that ${tail} bytes are stored, and they are not`)
  }
  if (!owner.filesOf(run).some((file) => file.equals(archive))) {
    lost++
    wrong.push(`${run}: the archive is not the file of its owner ${owner.id}`)
  }

  const seen = new Set<string>()
  const owners = new Set(history.map(({ machine_id }) => machine_id))
  let [holder, frames, doubled, fenced_bytes, takeovers] = ['', 0, 0, 0, 0]
  for (const item of readArchive(archive, readRecord)) {
    if (item.type !== 'record') {
      wrong.push(`${run}: ${item.type} at ${item.type === 'torn' ? item.offset : item.frame.offset}`)
      lost++
      continue
    }
    frames++
    const { record, frame } = item
    if (record.kind === 'Header') holder = record.identity.machine_id
    if (record.kind === 'OwnershipChanged') {
      if (record.machine_id !== holder) takeovers++
      holder = record.machine_id
      if (!owners.has(holder)) wrong.push(`${run}: ${holder} never had the lease`)
    }
    if (record.kind !== 'Message') continue
    const { content } = record.message.read()
    if (seen.has(content)) {
      doubled++
      wrong.push(`${run}: twice ${content.slice(0, 60)}`)
    }
    seen.add(content)
    if (content.startsWith(`${holder} `)) continue
    fenced_bytes += frame.length
    wrong.push(`${run}: under ${holder} stands ${content.slice(0, 60)}`)
  }
  return { lost, doubled, fenced_bytes, takeovers, frames, wrong }
}

const startsAlike = (one: Buffer, other: Buffer, bytes: number): boolean =>
  one.length >= bytes && other.length >= bytes && one.subarray(0, bytes).equals(other.subarray(0, bytes))
