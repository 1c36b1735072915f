/** Work that nobody waits for until the end of a request. It tells of its own failures. */
export class Pending {
  readonly #all = new Set<Promise<unknown>>()

  add(work: Promise<unknown>): void {
    this.#all.add(work)
    const forget = () => this.#all.delete(work)
    work.then(forget, forget)
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#all)
  }
}
