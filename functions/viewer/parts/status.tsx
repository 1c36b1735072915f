import type { JSX } from 'preact'
import { spoken } from '../data/format.ts'

const TONES: Readonly<Record<string, string>> = {
  starting: 'live',
  running: 'live',
  complete: 'good',
  complete_interactive: 'good',
  waiting_input: 'wait',
  paused: 'wait',
  error: 'bad',
}

/** A run's status: a word, and a colour for who sees it. */
export function Status({ status }: { readonly status: string | null }): JSX.Element {
  if (status === null) return <span class="status">no header yet</span>
  return <span class={`status ${TONES[status] ?? ''}`}>{spoken(status)}</span>
}
