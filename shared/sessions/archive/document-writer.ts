import { isRunfoldError, RunfoldError } from '../../schema/index.ts'
import { release } from '../../store/index.ts'
import type { ComposePart, Objects } from '../../store/ports.ts'
import { pieceKeyIn } from '../../store/session-keys.ts'

/** What is held of a document before it is stored beside; with it a derivation of any length stays small. */
const PIECE_BYTES = 8 * 1024 * 1024

/** The beginning of a stored document that stands in the new one too. */
export interface Prefix {
  readonly key: string
  readonly etag: string
  /** Of the stored document. */
  readonly length: number
  /** How much of it is taken. */
  readonly bytes: number
}

/**
 * Stores a document whose key is known only when it has been written: what comes is held, or where it is long kept as pieces of
 * which nobody else knows, and composed inside the storage at the end. The prefix never comes by here.
 */
export class DocumentWriter {
  readonly #objects: Objects
  readonly #prefix: Prefix | undefined
  readonly #place: { readonly under: string; readonly sweep: number }
  readonly #name = crypto.randomUUID()
  readonly #pieces: { readonly key: string; readonly length: number }[] = []
  #held: Uint8Array[] = []
  #heldBytes = 0

  constructor(objects: Objects, place: { under: string; sweep: number }, prefix?: Prefix) {
    this.#objects = objects
    this.#place = place
    this.#prefix = prefix
  }

  /** The chunk is the writer's from now on. */
  async add(chunk: Uint8Array): Promise<void> {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < PIECE_BYTES) return
    const { under, sweep } = this.#place
    const key = pieceKeyIn(under, { sweep, name: `${this.#name}-${this.#pieces.length}` })
    await this.#objects.put(key, this.#held, {})
    this.#pieces.push({ key, length: this.#heldBytes })
    for (const bytes of this.#held) release(bytes)
    this.#held = []
    this.#heldBytes = 0
  }

  /**
   * @returns the tag of what stands under the key now; undefined where the prefix vanished or was replaced meanwhile, or the
   * object has not the length it should have: then nothing may name it
   */
  async finish(key: string, length: number): Promise<string | undefined> {
    try {
      await this.#objects.compose(key, this.#parts(), {})
    } catch (error) {
      if (isRunfoldError(error, 'not_found')) return undefined
      throw error
    } finally {
      await this.abandon()
    }
    const stored = await this.#objects.tagged(key, { start: 0, end: 0 })
    return stored?.length === length && (await isStill(this.#objects, this.#prefix)) ? stored.etag : undefined
  }

  /** Removes what was stored on the way; what a crash leaves is the sweep's. */
  async abandon(): Promise<void> {
    const keys = this.#pieces.splice(0).map(({ key }) => key)
    if (keys.length > 0) await this.#objects.remove(keys).catch(() => {})
  }

  #parts(): ComposePart[] {
    const whole = ({ key, length }: { key: string; length: number }) => ({
      copy: key,
      range: { start: 0, end: length },
    })
    const prefix =
      this.#prefix && this.#prefix.bytes > 0 ? [whole({ ...this.#prefix, length: this.#prefix.bytes })] : []
    return [...prefix, ...this.#pieces.map(whole), ...this.#held.map((bytes) => ({ bytes }))]
  }
}

/** Whether the document that a prefix is of is the one that was stored. */
export async function isStill(objects: Objects, prefix: Prefix | undefined): Promise<boolean> {
  if (!prefix) return true
  const found = await objects.tagged(prefix.key, { start: 0, end: 0 }).catch(unknown)
  return found?.etag === prefix.etag && found.length === prefix.length
}

function unknown(error: unknown): undefined {
  if (!(error instanceof RunfoldError)) throw error
}
