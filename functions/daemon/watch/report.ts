import type { TornTail } from '../survey.ts'
import type { Trouble } from './run-state.ts'

/** What a watcher tells as it goes; with `--json` each is a line. */
export type WatchReport =
  | { readonly event: 'started'; readonly folder: string; readonly runs: number }
  | { readonly event: 'ignored'; readonly path: string; readonly detail: string }
  | { readonly event: 'polling'; readonly folders: number; readonly detail: string }
  | { readonly event: 'sending'; readonly run_id: string; readonly tail: number; readonly end: number }
  | { readonly event: 'shipped'; readonly run_id: string; readonly tail: number; readonly bytes: number }
  | { readonly event: 'torn'; readonly run_id: string; readonly torn: TornTail }
  | { readonly event: 'trouble'; readonly run_id: string; readonly trouble: Trouble }
  | { readonly event: 'mended'; readonly run_id: string }
  | { readonly event: 'outage'; readonly code: string; readonly detail: string; readonly again_s: number }
  | { readonly event: 'reached' }
  | { readonly event: 'unsaved'; readonly detail: string }
  | { readonly event: 'ended'; readonly unsent: number }

export type Report = (report: WatchReport) => void
