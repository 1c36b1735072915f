import { isRunfoldError, type RunfoldError } from '#schema'
import { FileMoved } from './archive-file.ts'
import type { Rewrite } from './history.ts'
import type { RunState, Trouble } from './run-state.ts'
import { ServerAhead } from './ship-run.ts'

/** What an error in looking at a run means for it, for the others, and for when to look again. */
export type Verdict =
  /** The run has this trouble; `again` milliseconds from now it may be over, without `again` only a change of the file ends it. */
  | { readonly trouble: Trouble; readonly again?: number }
  /** Look at once: the file moved under the look. */
  | { readonly moved: true }
  /** It is the server that has trouble, or the token: every run waits. */
  | { readonly outage: RunfoldError }

const LOOK_AGAIN_MS = 60_000
/** The longest wait for somebody else's lease before it is asked for again. */
const HELD_MAX_S = 30

export const judge = (error: unknown, { archived, run_id }: RunState): Verdict => {
  if (error instanceof FileMoved) return { moved: true }
  if (error instanceof ServerAhead) return { trouble: trouble('ahead', error.message) }
  if (!isRunfoldError(error)) return { trouble: ofFile(error), again: LOOK_AGAIN_MS }
  const { code, message, facts } = error
  switch (code) {
    case 'unavailable':
    case 'internal':
    case 'unauthorized':
      return { outage: error }
    case 'slow_down':
      return { trouble: trouble(code, message, facts), again: seconds(facts.retry_after_s) }
    case 'lease_held':
      return {
        trouble: trouble(code, `${holderOf(facts.lease)} has the run`, facts),
        again: seconds(facts.retry_after_s),
      }
    case 'forbidden':
      return { trouble: trouble(code, message, facts), again: LOOK_AGAIN_MS }
    case 'fenced': {
      const text = `${holderOf(facts.lease)} has the run now (epoch ${facts.epoch}); nothing more of it is sent from here`
      return { trouble: trouble(code, text, facts, true) }
    }
    case 'bad_frames':
      // What never was an archive may still become one.
      return { trouble: trouble(code, message, facts, (archived?.end ?? 0) > 0) }
    case 'not_found':
      return { trouble: trouble(code, message || `${run_id} is gone from the server`, facts, true) }
    default:
      return { trouble: trouble(code, message, facts, true) }
  }
}

/** The server serves other runs, and this one not. */
export const troubleOfServer = ({ code, message, facts }: RunfoldError): Trouble =>
  trouble(code, `${message}; other runs are served, and this one is tried again by itself`, facts)

const TEXTS: Readonly<Record<Rewrite, string>> = {
  truncated: 'the file became shorter than what was sent of it',
  replaced: 'another file has taken the name, and it does not begin with what was sent',
  rewritten: 'bytes that were sent were changed in the file',
}

export const rewriteTrouble = (rewrite: Rewrite, archived: number, size: number): Trouble =>
  trouble(
    rewrite,
    `${TEXTS[rewrite]}; the archive keeps its ${archived} bytes, and nothing more of this run is sent`,
    { archived_bytes: archived, file_bytes: size },
    true,
  )

export const missingTrouble = (archived: number): Trouble =>
  trouble('missing', `the file is gone; the archive keeps its ${archived} bytes`)

const ofFile = (error: unknown): Trouble => {
  const { code, message } = error as NodeJS.ErrnoException
  return code
    ? trouble('unreadable_file', `the file cannot be read: ${message}`)
    : trouble('unexpected', message)
}

const trouble = (code: string, detail: string, facts: Trouble['facts'] = {}, stops = false): Trouble => ({
  code,
  detail,
  stops,
  facts,
  at: new Date().toISOString(),
})

const seconds = (retry_after_s: unknown): number =>
  Math.min(HELD_MAX_S, Math.max(1, Number(retry_after_s) || 1)) * 1000

const holderOf = (lease: unknown): string => {
  const { machine_id, world_id } = (lease ?? {}) as { machine_id?: string; world_id?: string }
  return machine_id ? `${machine_id}/${world_id}` : 'another owner'
}
