/** Lets tasks of one name run one after the other; others need not wait. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>()

  async take<T>(name: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name)
    const turn = (async () => {
      await before?.catch(() => {}) // its own caller hears of it
      return task()
    })()
    this.#last.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(name) === turn) this.#last.delete(name)
    }
  }
}
