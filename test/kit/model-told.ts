import type { AppendAnswer, LeaseAnswer, RunfoldError } from '#schema'
import type { Head } from '#store'

/** A batch whose owner knows that it is stored. */
interface Acked {
  readonly actor: string
  readonly epoch: number
  readonly offset: number
  readonly bytes: Uint8Array
  readonly answer: AppendAnswer
}

/** What the actors of a model were told. */
export interface Told {
  readonly acked: Acked[]
  readonly taken: LeaseAnswer[]
  readonly read: { readonly head: Head; readonly bytes: Uint8Array }[]
  readonly refused: {
    readonly actor: string
    readonly error: RunfoldError
    /** From the actor's beginning, ms. */
    readonly took: number
  }[]
}
