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

  /** Takes out the first name that is due and that `may` be looked at. */
  take(now: number, may: (name: string) => boolean): string | undefined {
    for (const [name, time] of this.#due) {
      if (time > now || !may(name)) continue
      this.#due.delete(name)
      return name
    }
  }

  /** The soonest time of those that `may` be looked at. */
  next(may: (name: string) => boolean): number | undefined {
    let soonest: number | undefined
    for (const [name, time] of this.#due) {
      if (may(name) && (soonest === undefined || time < soonest)) soonest = time
    }
    return soonest
  }

  names(): readonly string[] {
    return [...this.#due.keys()]
  }
}
