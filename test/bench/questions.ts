/** Frames of the runs that reads are measured on. */
export const RUNS = { ten_thousand: 10_000, million: 1_000_000 } as const
export type Run = keyof typeof RUNS

const PARTS = 'parts=identity,meta,context,pending_batch'

/** What can be asked of a moment of a run of so many frames, `x` being from 0 to 1. */
export const QUESTIONS: Readonly<Record<string, (x: number, frames: number) => string>> = {
  state: (x, frames) => `fold?${PARTS}&seq=${2 + Math.floor(x * (frames - 2))}`,
  point: (x, frames) => `points/${Math.floor((x * (frames - 8)) / 4)}`,
  points: (x, frames) => `points?limit=50&from=${Math.floor((x * (frames - 8)) / 4)}`,
  diff: (x, frames) =>
    `diff?from=${Math.floor((x * (frames - 8)) / 4)}&to=${Math.floor(((1 - x) * (frames - 8)) / 4)}`,
  time: (x, frames) => `fold?${PARTS}&at=${1 + Math.floor((x * (frames - 8)) / 4)}`,
  records: (x, frames) => `records?limit=10&from=${Math.floor(x * frames)}`,
  present: () => `fold?${PARTS}`,
}
