const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

export interface Bar {
  /** Where it stands, in any unit. */
  readonly at: number
  readonly value: number
}

/** Values over time in a line of at most `width` characters, the highest as a full block; blanks where there is nothing. */
export const sparkline = (bars: readonly Bar[], width: number): string => {
  if (bars.length === 0) return ''
  const first = Math.min(...bars.map(({ at }) => at))
  const span = Math.max(...bars.map(({ at }) => at)) - first
  const sums = new Map<number, number>()
  for (const { at, value } of bars) {
    const column = span === 0 ? 0 : Math.round(((at - first) / span) * (width - 1))
    sums.set(column, (sums.get(column) ?? 0) + Math.max(0, value))
  }
  const highest = Math.max(...sums.values())
  const columns = Array.from({ length: Math.max(...sums.keys()) + 1 }, (_, n) => sums.get(n))
  return columns.map((value) => barOf(value, highest)).join('')
}

const barOf = (value: number | undefined, highest: number): string => {
  if (value === undefined) return ' '
  const level = highest === 0 ? 0 : Math.ceil((value / highest) * BARS.length) - 1
  return BARS[Math.max(0, level)] ?? ' '
}
