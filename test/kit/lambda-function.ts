import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { Environment, type FunctionSettings, type Invocation } from './lambda-environment.ts'

/** Lambda starts a thousand in ten seconds; a machine of two cores that starts twenty at once does nothing else. */
const STARTS_AT_ONCE = 2

/** A deployed function: as many processes as there are calls at once, up to its concurrency; the others wait. */
export class LambdaFunction {
  readonly #settings: FunctionSettings
  readonly #concurrency: number
  readonly #all = new Set<Environment>()
  readonly #idle: Environment[] = []
  readonly #waiting: Invocation[] = []
  #starting = 0
  #isStopped = false

  constructor(settings: FunctionSettings, concurrency: number) {
    this.#settings = settings
    this.#concurrency = concurrency
  }

  /** The answer as it comes; rejects when the process fails or takes too long before it. */
  invoke(event: object): Promise<IncomingMessage> {
    return new Promise((answered, failed) => {
      this.#waiting.push({ id: randomUUID(), event: JSON.stringify(event), answered, failed })
      this.#assign()
    })
  }

  /** Starts processes before there is anything for them to do. */
  provision(count: number): void {
    for (let n = 0; n < count; n++) this.#start()
  }

  /** For events that nobody waits for: repeated twice when they fail, as Lambda does. */
  async invokeLater(event: object): Promise<void> {
    for (let tries = 0; tries < 3; tries++) {
      try {
        await text(await this.invoke(event))
        return
      } catch (error) {
        if (this.#isStopped) return
        this.#settings.log?.(`${this.#settings.name}: ${error}\n`)
      }
    }
  }

  /** Of the processes that run now. */
  get pids(): readonly number[] {
    return [...this.#all].flatMap(({ pid }) => pid ?? [])
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#all].map((environment) => environment.stop()))
  }

  #assign(): void {
    while (this.#waiting.length > 0) {
      const environment = this.#idle.pop()
      if (!environment) break
      const next = this.#waiting.shift()
      if (next) environment.give(next)
    }
    const isRoom = this.#starting < STARTS_AT_ONCE && this.#all.size < this.#concurrency
    if (isRoom && this.#waiting.length > this.#starting) this.#start()
  }

  #start(): void {
    this.#starting++
    let isNew = true
    const environment = new Environment(
      this.#settings,
      (idle) => {
        if (isNew) this.#starting--
        isNew = false
        this.#idle.push(idle)
        this.#assign()
      },
      (gone) => {
        if (isNew) this.#starting--
        isNew = false
        this.#all.delete(gone)
        const at = this.#idle.indexOf(gone)
        if (at >= 0) this.#idle.splice(at, 1)
        if (!this.#isStopped) this.#assign()
      },
    )
    this.#all.add(environment)
    void environment.start()
  }
}
