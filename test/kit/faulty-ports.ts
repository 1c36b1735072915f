import { RunfoldError } from '#schema'
import type { StoredObject, StorePorts } from '#store'

// Ports whose every call stands still until a test says what becomes of it. So a test decides the order in which several
// actors reach the storage, and where one of them is cut off.

/** What can become of one waiting call. */
export interface Move {
  /** `<actor> <port>.<method>` and, for a fault, what goes wrong. */
  readonly label: string
  readonly isFault: boolean
  make(): Promise<void>
}

interface Call {
  readonly actor: string
  readonly label: string
  readonly isWrite: boolean
  readonly act: () => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const WRITES = new Set(['put', 'compose', 'remove', 'commit', 'removeCard', 'putTransfer'])

export class Gate {
  readonly #ports: StorePorts
  #waiting: Call[] = []

  constructor(ports: StorePorts) {
    this.#ports = ports
  }

  /** The ports as one actor sees them. */
  of(actor: string): StorePorts {
    const { objects, index } = this.#ports
    return {
      ...this.#ports,
      objects: { ...this.#gated(actor, 'objects', objects), list: (prefix) => this.#list(actor, prefix) },
      index: this.#gated(actor, 'index', index),
    }
  }

  /**
   * Everything that may happen next: a call is answered, or with `faults` a write is refused, or done without its answer
   * coming back, or done as the actor's last deed.
   */
  moves(faults: boolean): Move[] {
    return this.#waiting.flatMap((call) => {
      const { actor, label, isWrite } = call
      const move = (what: string, make: () => Promise<void>): Move => ({
        label: what ? `${label}, ${what}` : label,
        isFault: what !== '',
        make: async () => {
          this.#waiting = this.#waiting.filter((other) => other !== call)
          await make()
        },
      })
      const answered = move('', () => call.act().then(call.resolve, call.reject))
      if (!faults) return [answered]
      const crash = move('then the actor dies', async () => {
        await call.act().catch(() => {})
        this.#waiting = this.#waiting.filter((other) => other.actor !== actor)
      })
      const lost = move('the answer is lost', () =>
        call.act().then(() => call.reject(unknown()), call.reject),
      )
      const refused = move('refused', async () => call.reject(unknown()))
      return isWrite ? [answered, crash, lost, refused] : [answered, crash]
    })
  }

  #gated<T extends object>(actor: string, port: string, target: T): T {
    const gated = Object.entries(target).map(([method, act]) => [
      method,
      (...args: unknown[]) => this.#wait(actor, `${port}.${method}`, () => act.apply(target, args)),
    ])
    return Object.fromEntries(gated) as T
  }

  #wait<T>(actor: string, call: string, act: () => Promise<T>): Promise<T> {
    const isWrite = WRITES.has(call.split('.')[1] ?? '')
    return new Promise<T>((resolve, reject) => {
      const label = `${actor} ${call}`
      this.#waiting.push({ actor, label, isWrite, act, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  async *#list(actor: string, prefix: string) {
    yield* await this.#wait(actor, 'objects.list', async () => {
      const found: StoredObject[] = []
      for await (const object of this.#ports.objects.list(prefix)) found.push(object)
      return found
    })
  }
}

function unknown(): RunfoldError {
  return new RunfoldError('unavailable', 'the outcome is not known')
}
