import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pause } from '#client'
import { FolderEvents } from './folder-events.ts'
import { type Looking, lookAtRun } from './look.ts'
import { Outage } from './outage.ts'
import { ARCHIVE, listRuns } from './runs-folder.ts'
import { Schedule } from './schedule.ts'
import { hasChanged, seenAs, type WatchedRun, WatchedRuns } from './watched-runs.ts'

/** Runs looked at side by side; each may hold a batch of 4 MiB, or one larger frame. */
const WIDTH = 4
/** What comes within this time goes into one batch. */
const LINGER_MS = 50
/** Without a change for so long, what stands at a file's end is no frame under way. */
const QUIET_MS = 10_000
/** A run that has just changed is looked after at every tick, whatever events say. */
const WARM_MS = 60_000
const TICK_MS = 1000
/** Ticks in which every file has been looked after once, and new runs have been found. */
const ROUND_TICKS = 60

/**
 * Looks at every run of a folder when something tells that it has changed: events, a poll that is quick for runs at work
 * and slow for the others, a lease that is due. What an idle run costs is an entry here, a watch in the system and a stat a
 * minute.
 */
export class Watcher {
  readonly #folder: string
  readonly #looking: Looking
  readonly #now: () => number
  readonly #runs = new WatchedRuns()
  readonly #warm = new Set<WatchedRun>()
  readonly #schedule = new Schedule()
  readonly #outage = new Outage()
  readonly #ignored = new Set<string>()
  readonly #active = new Set<Promise<unknown>>()
  readonly #events = new FolderEvents((folder, name) => this.#told(folder, name))
  /** Whether the folder itself has changed since it was listed. */
  #isListDue = false
  #wake: () => void = () => undefined

  constructor(folder: string, looking: Looking) {
    this.#folder = folder
    this.#looking = looking
    this.#now = looking.shipping.now
  }

  /** Watches until `stop` aborts; then sends what is there, gives the leases back, and resolves. */
  async watch(stop: AbortSignal): Promise<void> {
    this.#events.add(this.#folder)
    await this.#begin()
    const ticking = this.#tick(stop)
    stop.addEventListener('abort', () => this.#wake(), { once: true })
    while (!stop.aborted) {
      this.#startLooks()
      const next = this.#active.size < WIDTH ? this.#schedule.next((run) => this.#readyAt(run)) : undefined
      await this.#sleep(next === undefined ? TICK_MS * ROUND_TICKS : Math.max(0, next - this.#now()))
    }
    this.#events[Symbol.dispose]()
    await ticking
    await this.#list()
    await this.#end()
  }

  /** Sends what there is now, gives the leases back, and resolves. */
  async once(): Promise<void> {
    await this.#begin()
    await this.#end()
  }

  async #begin(): Promise<void> {
    const { report } = this.#looking
    await this.#list()
    report({ event: 'started', folder: this.#folder, runs: this.#runs.size })
    const { refused } = this.#events
    const detail = `the system gives out no more watches; these folders are looked at every ${ROUND_TICKS} s`
    if (refused > 0) report({ event: 'polling', folders: refused, detail })
  }

  /** A last look at everything that waits for one or has changed unheard, then lets go of every lease. */
  async #end(): Promise<void> {
    await Promise.all(this.#active)
    for (const run of this.#runs) if (!run.isFirst && (await hasChanged(run))) this.#changed(run)
    const runs = this.#schedule.names().values()
    // A few of them find out whether the server is away; one alone may be what is wrong.
    const worker = async () => {
      for (const run of runs) if (!(await this.#look(run))) return
    }
    await Promise.all(Array.from({ length: WIDTH }, worker))
    const { shipping, report } = this.#looking
    await Promise.allSettled(shipping.leases.runs().map((run) => shipping.leases.release(run)))
    report({ event: 'ended', unsent: await this.#unsent() })
  }

  /** Runs of which the server lacks something. */
  async #unsent(): Promise<number> {
    let unsent = 0
    for (const { place } of this.#runs) {
      const file = await stat(place.path).catch(() => undefined)
      const archived = this.#looking.states.get(place.run_id)?.archived?.end ?? 0
      if (file && file.size > archived) unsent++
    }
    return unsent
  }

  #readyAt(run: string): number {
    return this.#runs.get(run)?.isBusy ? Number.POSITIVE_INFINITY : this.#outage.readyAt(run)
  }

  #startLooks(): void {
    while (this.#active.size < WIDTH) {
      const run = this.#schedule.take(this.#now(), (name) => this.#readyAt(name))
      if (run === undefined) return
      const look = this.#look(run).finally(() => {
        this.#active.delete(look)
        this.#wake()
      })
      this.#active.add(look)
    }
  }

  /** False where the server, or the token, is what failed. */
  async #look(name: string): Promise<boolean> {
    const run = this.#runs.get(name)
    if (!run || run.isBusy) return true
    const { report, states, shipping } = this.#looking
    run.isBusy = true
    this.#outage.begins(name)
    const isQuiet = await this.#isQuiet(run)
    const { isFirst } = run
    const isOwn = this.#outage.isOwn(name)
    const answers = shipping.answers()
    const { again, outage } = await lookAtRun(this.#looking, run.place, { isQuiet, isFirst, isOwn })
    run.isBusy = false
    const state = states.get(name)
    run.seen = seenAs(state?.file)
    if (outage) {
      const { pauseMs, isNew } = this.#outage.met(name, outage, this.#now())
      this.#schedule.at(name, this.#now() + pauseMs)
      const { code, message: detail } = outage
      if (isNew) report({ event: 'outage', code, detail, again_s: pauseMs / 1000 })
      return isOwn
    }
    if (this.#outage.ended(name, shipping.answers() > answers)) report({ event: 'reached' })
    run.isFirst = false
    if (again !== undefined) this.#schedule.at(name, this.#now() + again)
    if (!isQuiet && state?.torn) this.#schedule.at(name, run.changedAt + QUIET_MS)
    return true
  }

  /** At the first look only the file's own time can tell, and clocks may differ a little. */
  async #isQuiet({ isFirst, changedAt, place }: WatchedRun): Promise<boolean> {
    if (!isFirst) return this.#now() - changedAt >= QUIET_MS
    const file = await stat(place.path).catch(() => undefined)
    return file !== undefined && Date.now() - file.mtimeMs > WARM_MS
  }

  /** An event: of the folder itself a run may have come or gone, elsewhere only the archive counts. */
  #told(folder: string, name: string | null): void {
    if (folder !== this.#folder) {
      const run = this.#runs.inFolder(folder)
      if (run && (name === null || name === ARCHIVE)) this.#changed(run)
      return
    }
    const run = this.#runs.get(name?.replace(/\.lvr$/, '') ?? '')
    if (run && run.place.path === join(folder, name ?? '')) this.#changed(run)
    else this.#isListDue = true
  }

  #changed(run: WatchedRun): void {
    run.changedAt = this.#now()
    this.#warm.add(run)
    this.#schedule.at(run.place.run_id, this.#now() + LINGER_MS)
    this.#wake()
  }

  /** The poll, for what events do not tell. */
  async #tick(stop: AbortSignal): Promise<void> {
    for (let tick = 1; !stop.aborted; tick++) {
      await pause(TICK_MS, stop).catch(() => undefined)
      if (this.#isListDue || tick % ROUND_TICKS === 0) await this.#list()
      const cold = this.#runs.some(Math.ceil(this.#runs.size / ROUND_TICKS))
      for (const run of [...this.#warm, ...cold]) {
        if (this.#now() - run.changedAt > WARM_MS) this.#warm.delete(run)
        if (!run.isFirst && !run.isBusy && (await hasChanged(run))) this.#changed(run)
      }
    }
  }

  async #list(): Promise<void> {
    this.#isListDue = false
    const listing = await listRuns(this.#folder).catch((error: Error) => error)
    if (listing instanceof Error)
      return this.#looking.report({ event: 'ignored', path: this.#folder, detail: listing.message })
    const { runs, folders, ignored } = listing
    for (const place of runs)
      if (this.#runs.add(place, this.#now())) this.#schedule.at(place.run_id, this.#now())
    const listed = new Set(runs.map(({ run_id }) => run_id))
    for (const run of this.#runs) if (!listed.has(run.place.run_id)) await this.#left(run)
    for (const folder of folders) this.#events.add(folder)
    for (const each of ignored) {
      if (!this.#ignored.has(each.path)) this.#looking.report({ event: 'ignored', ...each })
      this.#ignored.add(each.path)
    }
    this.#wake()
  }

  /** A run whose folder is gone: a last look says so, and lets go of its lease. */
  async #left(run: WatchedRun): Promise<void> {
    await this.#look(run.place.run_id)
    this.#events.remove(dirname(run.place.path))
    this.#schedule.delete(run.place.run_id)
    this.#warm.delete(run)
    this.#outage.forget(run.place.run_id)
    this.#runs.delete(run.place)
  }

  /** Until the time is over or something wakes it. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
