import type { UsageAnswer } from '#schema'

/** As many bars as can be told apart. */
const MAX_BINS = 120

export interface Bins {
  /** Of one bar, in seconds. */
  readonly seconds: number
  /** Unix seconds at the middle of each bar. */
  readonly at: readonly number[]
  readonly input: readonly number[]
  readonly output: readonly number[]
}

/** A series of usage in bars of equal width, those without calls among them, so that their heights tell the pace. */
export function binsOf(series: UsageAnswer['series'], bucketSeconds: number): Bins {
  const first = Number(series[0]?.at ?? 0)
  const last = Number(series.at(-1)?.at ?? 0)
  const buckets = Math.floor((last - first) / bucketSeconds) + 1
  const seconds = bucketSeconds * Math.max(1, Math.ceil(buckets / MAX_BINS))
  const length = Math.floor((last - first) / seconds) + 1
  const input = new Array<number>(length).fill(0)
  const output = new Array<number>(length).fill(0)
  for (const { at, prompt_tokens, completion_tokens } of series) {
    const bin = Math.floor((Number(at) - first) / seconds)
    input[bin] = (input[bin] ?? 0) + Number(prompt_tokens)
    output[bin] = (output[bin] ?? 0) + Number(completion_tokens)
  }
  return { seconds, at: input.map((_, n) => first + (n + 0.5) * seconds), input, output }
}
