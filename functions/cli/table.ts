import type { Output, Style } from './output.ts'
import { oneLine } from './terminal-text.ts'
import { cut, padded, widthOf } from './text-width.ts'

/** A column: its title, what stands in it, and whether it holds numbers. The last column takes the room that is left. */
export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => unknown
  readonly align?: 'right'
  /** Columns of the terminal it may take. @default 40 */
  readonly width?: number
}

const GAP = '  '
const FACT_WIDTH = 1000
const WIDTH = 40
/** Rows looked at before the widths are settled; a longer listing streams after that. */
const SAMPLE = 200

/** Prints rows as they come, in columns as wide as the first rows need; says so when there is none. */
export const printTable = async <Row>(
  out: Output,
  columns: readonly Column<Row>[],
  rows: Iterable<Row> | AsyncIterable<Row>,
  nothing: string,
): Promise<void> => {
  let sample: string[][] = []
  let widths: readonly number[] | undefined
  const flush = async () => {
    widths = columns.map((column, i) =>
      Math.max(column.title.length, ...sample.map((row) => widthOf(row[i] ?? ''))),
    )
    const titles = columns.map((column) => column.title)
    await out.line(out.paint('bold', fitted(out, lineOf(columns, titles, widths))))
    for (const row of sample) await out.line(fitted(out, lineOf(columns, row, widths)))
    sample = []
  }
  for await (const row of rows) {
    const cells = columns.map((column) => cut(shown(column.value(row), column.width), column.width ?? WIDTH))
    if (widths) await out.line(fitted(out, lineOf(columns, cells, widths)))
    else if (sample.push(cells) === SAMPLE) await flush()
  }
  if (!widths && sample.length === 0) await out.line(nothing)
  else if (!widths) await flush()
}

/** A name, its value, and the colour of the value: a value that is painted already would lose its colour as harmful text. */
export type Fact = readonly [name: string, value: unknown, style?: Style]

/** Prints names and values below each other, leaving out what is not known. */
export const printFacts = async (out: Output, facts: readonly Fact[]): Promise<void> => {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(0, ...known.map(([name]) => name.length))
  for (const [name, value, style] of known) {
    const text = shown(value, FACT_WIDTH)
    await out.line(`${out.paint('dim', name.padEnd(width))}${GAP}${style ? out.paint(style, text) : text}`)
  }
}

const lineOf = <Row>(columns: readonly Column<Row>[], cells: readonly string[], widths: readonly number[]) =>
  columns
    .map((column, i) => padded(cells[i] ?? '', widths[i] ?? 0, column.align))
    .join(GAP)
    .trimEnd()

const fitted = (out: Output, line: string): string => (out.isTerminal ? cut(line, out.columns) : line)

/** No more of a text is looked at than can be shown: records may hold a hundred megabytes of it. */
const shown = (value: unknown, width = WIDTH): string => {
  const text = value === null || value === undefined ? '' : String(value)
  return oneLine(text.slice(0, width * 4)) || '-'
}
