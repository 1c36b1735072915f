import { extendDigest, loadDigest } from '#codec'
import type { SessionOutcome } from '#schema'
import { isLineOriented } from '#sessions'
import { type FileState, hashTo, nothingShipped, type Shipped, stateOf, stillBegins } from './file-state.ts'
import type { FoundFile, FoundSession } from './find.ts'
import { isBehind, isElsewhere, isTooLarge, standOf } from './refusals.ts'
import { SECRET_BYTES } from './scanning.ts'
import type { FileAtServer, SessionServer } from './session-server.ts'
import { isSameIdentity, lookAt, SourceFile } from './source-file.ts'
import type { Syncing } from './syncing.ts'
import { cursorAfter, cursorBefore, lastLineEnd } from './whole-lines.ts'

/** Rounds of asking where the file stands before it is left to the next pass. */
const MOST_TURNS = 8
/** What takes no request of this size takes none. */
const LEAST_BATCH_BYTES = 4096

/** What a pass over a file stands on. */
export type ShippingFile = Omit<Syncing, 'client' | 'machine' | 'signal'> & { readonly server: SessionServer }

export interface ShippedFile {
  /** New to the server. */
  readonly bytes: number
  /** Of the last answer, where something was asked. */
  readonly outcome?: SessionOutcome
  /** Of the document, as the last answer said; null where its derivation is due. */
  readonly problems?: number | null
  /** Secrets by family in what was new. */
  readonly secrets: ReadonlyMap<string, number>
  /** It holds secrets, so nothing of it was sent. */
  readonly isHeldBack: boolean
  /** The server has less than it had, so the session's other files are not where they are remembered to be either. */
  readonly isServerBehind?: boolean
  /** It goes on as another generation than before. */
  readonly isReplaced?: boolean
  /** Why not all of it was sent, where some was. */
  readonly failure?: unknown
}

const UNCHANGED: ShippedFile = { bytes: 0, secrets: new Map(), isHeldBack: false }

/**
 * One pass over one file (SESSIONS.md 5). A file that looks as it did costs a stat; one that only grew is read from its
 * last whole line on; everything else is hashed, and content decides whether the generation goes on or the next begins.
 *
 * @throws LeftOut, SourceMoved, RunfoldError
 */
export const shipFile = async (
  shipping: ShippingFile,
  session: FoundSession,
  found: FoundFile,
): Promise<ShippedFile | undefined> => {
  const { states, counters, verifies, sendsLooseEnd } = shipping
  const { source, path } = found
  const known = states.file(session, path)
  if (known && !verifies) {
    const now = await lookAt(source)
    if (!now) return undefined
    const isSent = found.isPacked || known.shipped === now.size || !sendsLooseEnd(now)
    if (isSent && isSameIdentity(now, known.identity)) return UNCHANGED
  }
  await loadDigest()
  await using file = await SourceFile.open(found, session.home, counters)
  if (!file) return undefined
  const pass = new FilePass(shipping, session, path, file)
  const begun = await pass.begin(known)
  return await pass.ship(begun, known, source) // the file stays open until then
}

class FilePass {
  readonly #shipping: ShippingFile
  readonly #session: FoundSession
  readonly #path: string
  readonly #file: SourceFile
  #bytes = 0
  #isServerBehind = false
  #last: { outcome: SessionOutcome; problems: number | null } | undefined

  constructor(shipping: ShippingFile, session: FoundSession, path: string, file: SourceFile) {
    this.#shipping = shipping
    this.#session = session
    this.#path = path
    this.#file = file
  }

  /** What the server has of this very file: by what is remembered, else by asking and comparing. */
  async begin(known: FileState | undefined): Promise<Shipped> {
    if (known && !this.#shipping.verifies) {
      return (await stillBegins(this.#file, known)) ?? nothingShipped(known.generation + 1)
    }
    return this.#compared(await this.#shipping.server.file(this.#path))
  }

  async ship(begun: Shipped, known: FileState | undefined, source: string): Promise<ShippedFile> {
    const file = this.#file
    const { isDry, refusesSecrets, states } = this.#shipping
    let shipped = begun
    let end = await this.#end(shipped)
    let secrets = await this.#secretsIn(shipped.shipped, end)
    let scannedFrom = shipped.shipped
    let failure: unknown
    for (let turn = 0; shipped.shipped < end || this.#isUnknown(shipped); ) {
      if (shipped.shipped < scannedFrom) {
        secrets = await this.#secretsIn(shipped.shipped, end)
        scannedFrom = shipped.shipped
      }
      if (secrets.size > 0 && refusesSecrets)
        return { ...UNCHANGED, bytes: this.#bytes, secrets, isHeldBack: true }
      if (isDry) return { ...UNCHANGED, bytes: end - shipped.shipped, secrets }
      try {
        shipped = await this.#send(shipped, end)
      } catch (error) {
        if (this.#takesLess(error)) continue
        if (!isElsewhere(error) || ++turn > MOST_TURNS) {
          if (this.#bytes === 0) throw error
          failure = error
          break
        }
        const there = standOf(error)
        if (known && isBehind(there, shipped)) this.#forgetSession()
        shipped = await this.#compared(there)
        end = await this.#end(shipped)
      }
    }
    // A change while it was read: what was sent is true, but what is remembered must be true of what lies there.
    if (!isDry && (await file.isUnchanged())) {
      const state = await stateOf(file, shipped)
      // What could not be sent is to look as if it had come since, so that the next pass goes on there.
      const identity = failure ? { ...state.identity, size: shipped.shipped } : state.identity
      states.put(this.#session, this.#path, source, { ...state, identity })
    }
    return {
      bytes: this.#bytes,
      secrets,
      isHeldBack: false,
      isServerBehind: this.#isServerBehind,
      isReplaced: known !== undefined && known.generation !== shipped.generation,
      ...this.#last,
      failure,
    }
  }

  /** Something on the way takes smaller requests only: half of it is tried, by all files of the session that follow. */
  #takesLess(error: unknown): boolean {
    const { server } = this.#shipping
    if (!isTooLarge(error) || server.batchBytes < 2 * LEAST_BATCH_BYTES) return false
    server.batchBytes = Math.ceil(server.batchBytes / 2)
    return true
  }

  #forgetSession(): void {
    this.#shipping.states.forget(this.#session)
    this.#isServerBehind = true
  }

  /** A generation that the server has never heard of is begun by a request, even by an empty one. */
  #isUnknown({ shipped, checked_size }: Shipped): boolean {
    return shipped === 0 && checked_size === 0 && !this.#last
  }

  async #send(from: Shipped, end: number): Promise<Shipped> {
    const { server, counters } = this.#shipping
    const upTo = Math.min(end, from.shipped + server.batchBytes)
    const parts: Uint8Array[] = []
    for await (const chunk of this.#file.chunks(from.shipped, upTo)) parts.push(chunk)
    const bytes = Buffer.concat(parts)
    const { generation } = from
    const answer = await server.append({
      path: this.#path,
      generation,
      offset: from.shipped,
      bytes,
    })
    counters.bytes_sent += bytes.length
    if (!answer.replayed) this.#bytes += bytes.length
    this.#last = worse(this.#last, answer)
    const hashed = extendDigest(from.hash, [bytes]) ?? (await hashTo(this.#file, from, upTo))
    const hash = 'state' in hashed ? hashed.state : hashed.hash
    return {
      generation,
      shipped: upTo,
      digest: hashed.digest,
      hash,
      cursor: cursorAfter(this.#path, from, bytes),
      checked_size: Math.max(from.checked_size, from.shipped === 0 ? this.#file.size : 0, 1),
    }
  }

  /** How far it may be sent now. */
  async #end({ shipped }: Shipped): Promise<number> {
    const file = this.#file
    const isWhole = !isLineOriented(this.#path) || this.#shipping.sendsLooseEnd(file.identity)
    return isWhole ? file.size : ((await lastLineEnd(file, shipped, file.size)) ?? shipped)
  }

  /** The file that is here against what the server has: its generation goes on where the bytes are the same. */
  async #compared(there: FileAtServer | undefined): Promise<Shipped> {
    if (!there) return nothingShipped(1)
    const { generation, tail, digest } = there
    if (tail > this.#file.size) return nothingShipped(generation + 1)
    const begun = nothingShipped(generation)
    const found = await hashTo(this.#file, begun, tail)
    if (found.digest !== digest) return nothingShipped(generation + 1)
    return {
      ...begun,
      ...found,
      shipped: tail,
      cursor: await cursorBefore(this.#path, this.#file, tail),
      checked_size: Math.max(1, this.#file.size),
    }
  }

  async #secretsIn(start: number, end: number): Promise<ReadonlyMap<string, number>> {
    const { scan } = this.#shipping
    if (!scan || end <= start) return new Map()
    const before = Math.min(start, SECRET_BYTES) // where one may have begun that ends in what is new
    return scan(this.#file.chunks(start - before, end), before)
  }
}

const RANK: Readonly<Record<SessionOutcome, number>> = { skipped: 0, archived: 1, partial: 2, failed: 3 }

const worse = (
  before: { outcome: SessionOutcome; problems: number | null } | undefined,
  { outcome, problems }: { outcome: SessionOutcome; problems: number | null },
) => ({
  outcome:
    before && RANK[before.outcome] > RANK[outcome] && before.outcome !== 'failed' ? before.outcome : outcome,
  problems,
})
