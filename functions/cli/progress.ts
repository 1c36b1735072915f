import cliProgress from 'cli-progress'
import prettyBytes from 'pretty-bytes'
import type { Output } from './output.ts'

/** How far a transfer is; positions are bytes of the archive. */
export interface Progress {
  at(position: number): void
  /** Takes the bar away. */
  stop(): void
}

const LINE_EVERY_MS = 5000
/** Anything shorter is over before a bar can be read. */
const WORTHWHILE_BYTES = 1024 * 1024

/** A bar with rate and remaining time on a terminal, elsewhere a line every five seconds, for small transfers nothing. */
export const startProgress = (err: Output, label: string, from: number, end: number): Progress => {
  if (end - from < WORTHWHILE_BYTES) return { at: () => undefined, stop: () => undefined }
  return err.isTerminal ? bar(label, from, end) : lines(err, label, end)
}

const bar = (label: string, from: number, end: number): Progress => {
  const began = performance.now()
  const shown = new cliProgress.SingleBar({
    format: `${label} {bar} {percentage}% {done} {rate}/s, {eta_formatted} left`,
    // It moves the cursor itself, so it needs the terminal and not our way of writing.
    stream: process.stderr,
    hideCursor: false,
    clearOnComplete: true,
  })
  const facts = (position: number) => ({
    done: prettyBytes(position),
    rate: prettyBytes((position - from) / Math.max(0.001, (performance.now() - began) / 1000)),
  })
  shown.start(end, from, facts(from))
  return { at: (position) => shown.update(position, facts(position)), stop: () => shown.stop() }
}

const lines = (err: Output, label: string, end: number): Progress => {
  let next = performance.now() + LINE_EVERY_MS
  return {
    at(position) {
      if (performance.now() < next || position >= end) return
      next = performance.now() + LINE_EVERY_MS
      void err.line(`${label}: ${prettyBytes(position)} of ${prettyBytes(end)}`)
    },
    stop: () => undefined,
  }
}
