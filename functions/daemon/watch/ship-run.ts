import { type Client, sendArchive } from '#client'
import { frameLength, PREAMBLE_BYTES, PREFIX_BYTES } from '#codec'
import { type Capabilities, isRunfoldError, RunfoldError, TERMINAL_STATUSES } from '#schema'
import { type Survey, surveyFrames } from '../survey.ts'
import type { ArchiveFile, Prefix } from './archive-file.ts'
import type { Leases } from './leases.ts'
import type { RunState } from './run-state.ts'
import { commonPrefix, lookAtServer } from './server-side.ts'

export interface Shipping {
  readonly client: Client
  /** What the server can do; asked for when it is needed first, since it may not be there when a watcher starts. */
  readonly capabilities: () => Promise<Capabilities>
  readonly leases: Leases
  /** How often the server has answered so far, neither refusing the token nor failing itself. */
  readonly answers: () => number
  /** Milliseconds that never jump. */
  readonly now: () => number
  readonly signal: AbortSignal
  /** Told how far a long sending is: archive positions acknowledged and to be reached. */
  readonly onProgress?: (run_id: string, tail: number, end: number) => void
}

/** The server has more of the run than the file: whoever has gone on with it is somewhere else. */
export class ServerAhead extends Error {}

/**
 * Brings the server up to the whole frames of a file whose beginning was checked. Gives the state after it; rejects with
 * what cannot be mended by sending again, and then what was acknowledged is found out anew.
 *
 * @param isQuiet the file has not changed for a while, so what stands at its end is no frame under way
 */
export const shipRun = async (
  shipping: Shipping,
  state: RunState,
  file: ArchiveFile,
  isQuiet: boolean,
): Promise<RunState> => {
  const isLookedAt = state.archived === null
  const archived = state.archived ?? (await agreed(shipping, state, file))
  const survey = await surveyOf(file, archived.end)
  const end = isQuiet ? survey.end : survey.certain
  const known: RunState = {
    ...state,
    archived,
    torn: survey.torn ?? held(survey, end),
    status: survey.status ?? state.status,
    file: file.identity,
    trouble: null,
  }
  return end > archived.end ? send(shipping, known, file, end, isLookedAt) : known
}

export const isFinished = ({ status, torn }: RunState): boolean =>
  status !== null && TERMINAL_STATUSES.has(status) && torn === null

/** Frames that are whole only if nothing more comes are kept back, and count as torn meanwhile. */
const held = ({ end, certain }: Survey, sent: number) =>
  sent < end ? { offset: certain, length: end - certain, reason: 'not_json' } : null

const agreed = async (shipping: Shipping, state: RunState, file: ArchiveFile): Promise<Prefix> => {
  const { client, leases } = shipping
  const { run_id, archived } = state
  const server = (await lookAtServer(client, run_id, archived?.end ?? 0)) ?? (await leases.take(run_id))
  const prefix = await commonPrefix(file, server)
  if (prefix) return prefix
  throw new ServerAhead(
    `the server has ${server.tail} bytes of the run, the file ${file.identity.size}; whoever went on with it is elsewhere`,
  )
}

const NOT_YET = { certain: 0, status: undefined }

/** A frame that is still being written, however long, is not read again at every look. */
const surveyOf = async (file: ArchiveFile, from: number): Promise<Survey> => {
  const { size } = file.identity
  const torn = (reason: string) => ({
    ...NOT_YET,
    end: from,
    certain: from,
    torn: { offset: from, length: size - from, reason },
  })
  if (from === 0 && size < PREAMBLE_BYTES) return torn('short_preamble')
  if (from > 0 && size === from) return { ...NOT_YET, end: from, certain: from, torn: undefined }
  if (from > 0) {
    if (size < from + PREFIX_BYTES) return torn('short_length')
    const payload = frameLength(await file.read(from, from + PREFIX_BYTES), 0)
    if (payload === undefined) return torn('frame_too_large')
    if (size < from + PREFIX_BYTES + payload) return torn('short_payload')
  }
  return surveyFrames(file.chunks(from, size), from)
}

const send = async (
  shipping: Shipping,
  state: RunState,
  file: ArchiveFile,
  end: number,
  isLookedAt: boolean,
): Promise<RunState> => {
  const { client, signal, now, leases } = shipping
  const { run_id: run } = state
  const { epoch, archived } = await owned(shipping, state, file, isLookedAt)
  if (archived.end >= end) return { ...state, archived }
  const source = file.as({ end, prefix: archived })
  const { limits, features } = await shipping.capabilities()
  const asked = now()
  const last = await sendArchive(client, {
    run,
    epoch,
    tail: archived.end,
    source,
    limits,
    uploads: features.includes('uploads'),
    signal,
    onAck: ({ tail }) => {
      leases.grew(run, asked)
      if (tail < end) shipping.onProgress?.(run, tail, end)
    },
  })
  const sent = await source.prefixTo(end)
  if (last?.digest !== sent.digest) {
    const text = 'the file was changed while it was sent: the archive is not what the file is now'
    throw new RunfoldError('offset_conflict', text, { tail: last?.tail, digest: last?.digest })
  }
  return { ...state, archived: sent, sent_at: new Date().toISOString() }
}

/** The run's lease, and what the server has once it is ours. */
const owned = async (
  shipping: Shipping,
  state: RunState,
  file: ArchiveFile,
  isLookedAt: boolean,
): Promise<{ readonly epoch: number; readonly archived: Prefix }> => {
  const { leases } = shipping
  const { run_id } = state
  const archived = state.archived as Prefix
  const epoch = leases.epoch(run_id)
  if (epoch !== undefined) return { epoch, archived }
  // Somebody else may have gone on with the run since, and then taking the lease would only disturb.
  const looked = isLookedAt ? archived : await agreed(shipping, state, file.as({ prefix: archived }))
  const taken = leases.epoch(run_id)
  if (taken !== undefined) return { epoch: taken, archived: looked }
  const answer = await leases.take(run_id)
  const common = await commonPrefix(file.as({ prefix: looked }), answer)
  if (common) return { epoch: answer.epoch, archived: common }
  await leases.release(run_id)
  throw new ServerAhead(`the server has ${answer.tail} bytes of the run, more than the file`)
}

/** Whether an owner of this very identity, such as `runfold resume` on this machine, gave the lease back meanwhile. */
export const wasGivenBack = (error: unknown, epoch: number | undefined): boolean =>
  isRunfoldError(error, 'fenced') && !error.facts.lease && error.facts.epoch === epoch
