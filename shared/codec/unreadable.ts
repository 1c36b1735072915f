const known = new Map<string, Unreadable>()

/**
 * Why a whole frame is no record. The reason is made of our words and the schema's, never of payload bytes (LVR1.md 6h), so
 * there are few of them and each is one object for good: an archive may have a million unreadable frames, and making an
 * Error costs more than to find that out. It has no stack for that reason.
 */
export class Unreadable extends Error {
  /** `not_json`, `not_a_record`, `unknown_kind`, or `invalid: ` and where, such as `invalid: Progress.meta.status`. */
  readonly reason: string

  private constructor(reason: string) {
    super(`unreadable record: ${reason}`)
    this.name = 'Unreadable'
    this.stack = `${this.name}: ${this.message}`
    this.reason = reason
  }

  static of(reason: string): Unreadable {
    let unreadable = known.get(reason)
    if (unreadable === undefined) {
      unreadable = new Unreadable(reason)
      known.set(reason, unreadable)
    }
    return unreadable
  }
}
