const REDACTED = '<redacted>'

/** Holds a secret that no log, JSON text, template or inspection can print by accident; only `reveal` gives it away. */
export class Redacted {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  /** The secret itself, for the one place that sends it. */
  reveal(): string {
    return this.#secret
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  get [Symbol.toStringTag](): string {
    return REDACTED
  }

  /** Node's `util.inspect` looks for this symbol, which needs no import. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED
  }
}
