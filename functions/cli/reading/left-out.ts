import type { ArchiveItem, TornTail } from '#codec'
import { counted } from '../../counted.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'

/** What a file holds beside records, gathered while it is read. Nobody may take a part of a run for the whole of it. */
export class LeftOut {
  #frames = 0
  #firstOffset = 0
  #torn: TornTail | undefined

  add(item: ArchiveItem<unknown>): void {
    if (item.type === 'torn') this.#torn = item
    if (item.type === 'unreadable' && this.#frames++ === 0) this.#firstOffset = item.frame.offset
  }

  /** Says on standard error what was left out, in a line; nothing where everything was a record. */
  async tell({ err, json }: Session, file: string): Promise<void> {
    const torn = this.#torn && {
      offset: this.#torn.offset,
      length: this.#torn.length,
      reason: this.#torn.reason,
    }
    const texts = [
      this.#frames > 0 && `${this.#framesText()} stepped over`,
      torn && `a torn tail of ${counted(torn.length, 'byte')} at offset ${torn.offset} was left out`,
    ].filter((text) => text)
    if (texts.length === 0) return
    const detail = texts.join(', and ')
    if (!json) return err.line(oneLine(`${file}: ${detail}`))
    const unreadable = this.#frames > 0 ? { frames: this.#frames, first_offset: this.#firstOffset } : null
    await err.json({ note: 'left_out', file, detail, unreadable, torn: torn ?? null })
  }

  #framesText(): string {
    const where = `offset ${this.#firstOffset}`
    return this.#frames === 1
      ? `an unreadable frame at ${where} was`
      : `${this.#frames} unreadable frames, the first at ${where}, were`
  }
}
