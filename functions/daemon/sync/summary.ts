import type { SessionOutcome } from '#schema'
import type { SyncedSession } from './sync-session.ts'

/** What a sync came to, as its last line says. */
export class Summary {
  readonly counts: Record<SessionOutcome, number> = { archived: 0, skipped: 0, partial: 0, failed: 0 }
  readonly secrets = new Map<string, number>()
  bytes = 0

  add({ outcome, bytes, secrets }: SyncedSession): void {
    this.counts[outcome]++
    this.bytes += bytes
    for (const [family, count] of secrets) this.secrets.set(family, (this.secrets.get(family) ?? 0) + count)
  }

  /** The line of SESSIONS.md 5. */
  get line(): string {
    const { archived, skipped, partial, failed } = this.counts
    const sessions = archived + skipped + partial + failed
    return `${archived} archived, ${skipped} skipped, ${partial} partial, ${failed} failed of ${sessions} sessions; ${this.bytes.toLocaleString('en-US')} bytes sent`
  }
}
