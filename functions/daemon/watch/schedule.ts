/** When what is to be looked at; the soonest time wins, and nothing is in it that waits for nothing. */
export class Schedule {
  readonly #due = new Map<string, number>()

  /** At `time`, or sooner when that was said before. */
  at(name: string, time: number): void {
    this.#due.set(name, Math.min(time, this.#due.get(name) ?? Number.POSITIVE_INFINITY))
  }

  delete(name: string): void {
    this.#due.delete(name)
  }

  /** Takes out the first name that is due and ready. */
  take(now: number, readyAt: (name: string) => number): string | undefined {
    for (const [name, time] of this.#due) {
      if (time > now || readyAt(name) > now) continue
      this.#due.delete(name)
      return name
    }
  }

  /** When the soonest of them is due and ready; undefined where none ever is by itself. */
  next(readyAt: (name: string) => number): number | undefined {
    let soonest = Number.POSITIVE_INFINITY
    for (const [name, time] of this.#due) soonest = Math.min(soonest, Math.max(time, readyAt(name)))
    return soonest === Number.POSITIVE_INFINITY ? undefined : soonest
  }

  names(): readonly string[] {
    return [...this.#due.keys()]
  }
}
