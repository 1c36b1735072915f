import { styleText } from 'node:util'
import { jsonChunks } from '#codec'
import type { Sink } from './io.ts'
import { harmlessJson, manyLines } from './terminal-text.ts'

export type Style = Parameters<typeof styleText>[0]

/** Writes for a person or, with `--json`, for a program. Colours only on a terminal and never with NO_COLOR. */
export interface Output {
  readonly isTerminal: boolean
  readonly columns: number
  /** A line for people. Text of records must have gone through terminal-text.ts. */
  line(text?: string): Promise<void>
  /** Text of records of any size, made harmless. */
  text(text: string): Promise<void>
  /** A value with every digit, on a line of its own. */
  json(value: unknown): Promise<void>
  /** Bytes as they are. */
  bytes(chunk: Uint8Array): Promise<void>
  paint(style: Style, text: string): string
}

export const createOutput = (sink: Sink, env: Readonly<Record<string, string | undefined>>): Output => {
  const isColoured = sink.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb'
  const line = (text = '') => sink.write(`${text}\n`)
  const jsonLine = async (value: unknown) => {
    const decoder = new TextDecoder()
    for (const chunk of jsonChunks(value)) {
      await sink.write(sink.isTerminal ? harmlessJson(decoder.decode(chunk, { stream: true })) : chunk)
    }
    await sink.write('\n')
  }
  let lines = Promise.resolve()
  return {
    isTerminal: sink.isTerminal,
    get columns() {
      return sink.columns
    },
    line,
    text: (text) => sink.write(manyLines(text)),
    json(value) {
      // Whoever does not wait for a value to be written must not find the next one in it.
      const written = lines.then(() => jsonLine(value))
      lines = written.catch(() => undefined)
      return written
    },
    bytes: (chunk) => sink.write(chunk),
    paint: (style, text) => (isColoured ? styleText(style, text, { validateStream: false }) : text),
  }
}
