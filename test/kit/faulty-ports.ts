import { RunfoldError } from '#schema'
import type { Objects, StoredObject, StorePorts } from '#store'

// Ports whose every call stands still until a test says what becomes of it. So a test decides the order in which several
// actors reach the storage, and where one of them is cut off.

/** What can become of one waiting step. */
export interface Move {
  readonly actor: string
  /** `<actor> <port>.<method>` and, for a fault, what goes wrong. */
  readonly label: string
  readonly isFault: boolean
  make(): Promise<void>
}

/** What can go wrong with a step. */
type Fault =
  | 'dies' // it is done, and is the actor's last
  | 'lost' // it is done, and nobody is told
  | 'refused' // it is not done

interface Step {
  readonly actor: string
  readonly label: string
  readonly faults: readonly Fault[]
  readonly act: () => Promise<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const WRITES = new Set([
  'put',
  'compose',
  'remove',
  'commit',
  'removeCard',
  'putTransfer',
  'putHead',
  'putFile',
  'putClosed',
])

export class Gate {
  readonly #ports: StorePorts
  readonly #acting = new Set<string>()
  #waiting: Step[] = []

  constructor(ports: StorePorts) {
    this.#ports = ports
  }

  enter(actor: string): void {
    this.#acting.add(actor)
  }

  leave(actor: string): void {
    this.#acting.delete(actor)
  }

  /** Until every actor that has entered stands at the gate, has left, or is dead. */
  async settled(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve))
    while ([...this.#acting].some((name) => !this.#waiting.some(({ actor }) => actor === name)))
  }

  /** The ports as one actor sees them; `uploads` are to be built on these. */
  of(actor: string): Omit<StorePorts, 'uploads'> {
    const { objects, index, tokens, uploadIndex, sessions } = this.#ports
    return {
      objects: {
        ...this.#gated(actor, 'objects', objects),
        list: (prefix) => this.#all(actor, 'objects.list', objects.list(prefix)),
      },
      index: this.#gated(actor, 'index', index),
      uploadIndex: this.#gated(actor, 'uploadIndex', uploadIndex),
      tokens,
      sessions: {
        ...this.#gated(actor, 'sessions', sessions),
        files: (...args) => this.#all(actor, 'sessions.files', sessions.files(...args)),
        closedGenerations: (...args) =>
          this.#all(actor, 'sessions.closedGenerations', sessions.closedGenerations(...args)),
      },
    }
  }

  /** Something else that happens when the test says so. */
  step<T>(actor: string, what: string, faults: readonly Fault[], act: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const label = `${actor} ${what}`
      this.#waiting.push({ actor, label, faults, act, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  /** Everything that may happen next: a step is done, or with `faults` goes wrong in one of its ways. */
  moves(faults: boolean): Move[] {
    return this.#waiting.flatMap((step) => {
      const { actor, label } = step
      const move = (what: string, make: () => Promise<void>): Move => ({
        actor,
        label: `${label}${what}`,
        isFault: what !== '',
        make: async () => {
          this.#waiting = this.#waiting.filter((other) => other !== step)
          await make()
        },
      })
      const done = move('', () => step.act().then(step.resolve, step.reject))
      const wrong = {
        dies: () =>
          move(', then dies', async () => {
            await step.act().catch(() => {})
            this.leave(actor)
            this.#waiting = this.#waiting.filter((other) => other.actor !== actor)
          }),
        lost: () =>
          move(', the answer is lost', () => step.act().then(() => step.reject(unknown()), step.reject)),
        refused: () => move(', refused', async () => step.reject(unknown())),
      }
      return faults ? [done, ...step.faults.map((fault) => wrong[fault]())] : [done]
    })
  }

  #gated<T extends object>(actor: string, port: string, target: T): T {
    const gated = Object.entries(target).map(([method, act]) => {
      const faults: readonly Fault[] = WRITES.has(method) ? ['dies', 'lost', 'refused'] : ['dies']
      const wait = (...args: unknown[]) =>
        this.step(actor, `${port}.${method}`, faults, () => act.apply(target, args))
      return [method, wait]
    })
    return Object.fromEntries(gated) as T
  }

  /** A walk is one step. */
  async *#all<T>(actor: string, what: string, items: AsyncIterable<T>) {
    yield* await this.step(actor, what, ['dies'], () => collected(items))
  }
}

export function listed(objects: Objects, prefix: string): Promise<StoredObject[]> {
  return collected(objects.list(prefix))
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

function unknown(): RunfoldError {
  return new RunfoldError('unavailable', 'the outcome is not known')
}
