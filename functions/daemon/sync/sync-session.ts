import { isRunfoldError, type SessionOutcome } from '#schema'
import { sayProblems } from './document-problems.ts'
import type { FoundFile, FoundSession } from './find.ts'
import { LeftOut } from './left-out.ts'
import type { Outage } from './outage.ts'
import { SessionServer } from './session-server.ts'
import { type ShippedFile, type ShippingFile, shipFile } from './ship-file.ts'
import { SourceMoved } from './source-file.ts'
import type { Syncing } from './syncing.ts'

export interface SyncedSession {
  readonly harness: FoundSession['harness']
  readonly id: string
  readonly outcome: SessionOutcome
  /** New to the server. */
  readonly bytes: number
  /** Whether the server has heard of it only now. */
  readonly isNew: boolean
  /** What is to be said about it, one a line. */
  readonly problems: readonly string[]
  readonly secrets: ReadonlyMap<string, number>
}

/** All files of a session, one after the other; one that cannot be read or sent does not keep the others. */
export const syncSession = async (
  syncing: Syncing & { readonly outage: Outage },
  session: FoundSession,
): Promise<SyncedSession> => {
  const { states } = syncing
  const server = new SessionServer(syncing, session)
  const shipping: ShippingFile = { ...syncing, server }
  const problems: string[] = []
  const secrets = new Map<string, number>()
  let [bytes, failures, heldBack] = [0, 0, 0]
  let last: ShippedFile | undefined
  const isNew = session.files.every(({ path }) => !states.file(session, path))
  const queue = [...session.files]
  for (const file of queue) {
    try {
      const shipped = await shipFile(shipping, session, file)
      if (!shipped) continue
      bytes += shipped.bytes
      for (const [family, count] of shipped.secrets) secrets.set(family, (secrets.get(family) ?? 0) + count)
      if (shipped.isHeldBack) {
        heldBack++
        problems.push(`${file.path}: held back, ${saySecrets(shipped.secrets)}`)
      }
      if (shipped.outcome !== undefined) last = shipped
      if (shipped.isServerBehind && queue.length === session.files.length) queue.push(...session.files)
    } catch (error) {
      syncing.signal.throwIfAborted()
      failures++
      problems.push(`${file.path}: ${whyNot(error, file)}`)
      syncing.outage.meet(error)
    }
  }
  if (syncing.verifies && !syncing.isDry)
    await server.checkDocument().catch((error) => problems.push(whyNoDocument(error)))
  const note = await noteOf(syncing, server, session, last)
  if (note) problems.push(note)
  const isDerived = last?.outcome !== 'failed'
  const isLost = failures > 0 && bytes === 0
  const isPartial = failures > 0 || heldBack > 0 || note !== null
  const outcome = !isDerived || isLost ? 'failed' : isPartial ? 'partial' : bytes > 0 ? 'archived' : 'skipped'
  return { harness: session.harness, id: session.id, outcome, bytes, isNew, problems, secrets }
}

/** What the document reports, as it was last heard. Only a change of it is asked about. */
const noteOf = async (
  { states, isDry }: Syncing,
  server: SessionServer,
  session: FoundSession,
  last: ShippedFile | undefined,
): Promise<string | null> => {
  const before = states.note(session)
  if (!last || isDry) return before
  if (last.outcome === 'failed') return 'its document could not be derived, the former one stays'
  if (last.problems === null || last.problems === undefined) return before
  const note = last.problems === 0 ? null : await told(server, last.problems)
  if (note !== before) states.setNote(session, note)
  return note
}

const whyNoDocument = (error: Error): string => `its document cannot be read: ${error.message}`

const told = async (server: SessionServer, count: number): Promise<string> =>
  sayProblems(await server.problems().catch(() => []), count)

const whyNot = (error: unknown, { source }: FoundFile): string => {
  if (error instanceof LeftOut || error instanceof SourceMoved || isRunfoldError(error)) return error.message
  return `${source} cannot be read: ${(error as Error).message}`
}

/** Such as `AWS_SECRET 2, GITHUB_TOKEN 1`. */
export const saySecrets = (secrets: ReadonlyMap<string, number>): string =>
  [...secrets].map(([family, count]) => `${family} ${count}`).join(', ')
