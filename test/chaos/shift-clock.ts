// Preloaded into a process whose wall clock shall be wrong by CLOCK_SHIFT_MS.

const shift = Number(process.env.CLOCK_SHIFT_MS ?? 0)
const TrueDate = Date

class ShiftedDate extends TrueDate {
  constructor(...given: readonly unknown[]) {
    if (given.length === 0) super(ShiftedDate.now())
    else super(...(given as [number]))
  }

  static override now(): number {
    return TrueDate.now() + shift
  }
}

globalThis.Date = ShiftedDate as DateConstructor
