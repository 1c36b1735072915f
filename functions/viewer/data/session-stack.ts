import type { TokenUsage } from '#schema'
import { readMessage } from './session-document.ts'
import type { Stack } from './stack.ts'

/** Messages that are parsed for the chart; of longer sessions every so many. */
const MAX_SAMPLES = 600

const USAGE_BANDS = ['cached', 'new', 'out'] as const

/**
 * What the model read and wrote, message by message: how full its context was. Codex counts cached tokens among its input,
 * the others beside it (SESSIONS.md 7).
 */
export function sessionStack(messages: readonly Uint8Array[], harness: string): Stack {
  const step = Math.max(1, Math.ceil(messages.length / MAX_SAMPLES))
  const x: number[] = []
  const heights: number[][] = [[], [], []]
  for (let n = 0; n < messages.length; n += step) {
    const slice = messages[n]
    const usage = slice && readMessage(slice).usage
    if (!usage) continue
    const { cached, fresh, out } = shares(usage, harness)
    x.push(n)
    for (const [place, value] of [cached, cached + fresh, cached + fresh + out].entries())
      heights[place]?.push(value)
  }
  return { x, bands: USAGE_BANDS.map((name, place) => ({ name, top: heights[place] ?? [] })), limit: [] }
}

function shares(usage: TokenUsage, harness: string) {
  const number = (value: TokenUsage[keyof TokenUsage]) => Number(value ?? 0)
  const cached = number(usage.cache_read_tokens)
  const input = number(usage.input_tokens) + number(usage.cache_creation_tokens)
  return {
    cached,
    fresh: harness === 'codex' ? Math.max(0, input - cached) : input,
    out: number(usage.output_tokens),
  }
}
