import { appendFileSync } from 'node:fs'
import { encodeFrame, encodeRecord, PREAMBLE } from '#codec'
import type { JournalRecord } from '#schema'
import { headerRecord } from '../kit/header-record.ts'
import type { Random } from './random.ts'

/** Writes the archive of one run on one machine, as a daemon does: at the end, and now and then only a part of a frame. */
export class Daemon {
  readonly machine_id: string
  readonly path: string
  readonly #run: string
  /** What is still to be written of the frame under way. */
  #rest: Uint8Array = new Uint8Array()
  #written = 0

  constructor(run: string, machine_id: string, path: string) {
    this.#run = run
    this.machine_id = machine_id
    this.path = path
  }

  begin(): void {
    const { Header } = headerRecord({ run_id: this.#run }) as { Header: { identity: object; meta: object } }
    const identity = { ...Header.identity, machine_id: this.machine_id }
    const header = frameOf({ Header: { ...Header, identity } } as JournalRecord)
    appendFileSync(this.path, Buffer.concat([PREAMBLE, header]))
  }

  /** A few frames, each of which says who wrote it and is like no other. */
  write({ below, chance }: Random): void {
    for (let n = 1 + below(3); n > 0; n--) {
      this.finish()
      const content = `${this.machine_id} ${this.#run}.${++this.#written}.${below(1e9)} ${'x'.repeat(below(600))}`
      const frame = frameOf({ Message: { message: { role: 'user', content }, at: 1_790_000_000 } })
      const cut = chance(0.2) ? below(frame.length) : frame.length
      appendFileSync(this.path, frame.subarray(0, cut))
      this.#rest = frame.subarray(cut)
    }
  }

  /** Writes what is left of the frame under way. */
  finish(): void {
    if (this.#rest.length > 0) appendFileSync(this.path, this.#rest)
    this.#rest = new Uint8Array()
  }
}

const frameOf = (record: JournalRecord) => encodeFrame(encodeRecord(record))
