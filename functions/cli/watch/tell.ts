import prettyBytes from 'pretty-bytes'
import { counted } from '../../counted.ts'
import type { WatchReport } from '../../daemon/watch/report.ts'
import { EXIT, EXIT_OF_PROBLEM, type ExitCode } from '../exit-codes.ts'
import type { Session } from '../session.ts'
import { oneLine } from '../terminal-text.ts'

export interface Teller {
  report(report: WatchReport): void
  /** How `--once` ends. */
  exitCode(): ExitCode
}

/** Tells what a watcher does: to a person on a terminal, as a JSON value a line elsewhere. */
export const watchTeller = ({ json, out }: Session): Teller => {
  let worst: ExitCode = EXIT.ok
  const asJson = json || !out.isTerminal
  return {
    report(report) {
      worst = exitOf(report) ?? worst
      if (asJson) void out.json({ at: new Date().toISOString(), ...report })
      else void out.line(`${new Date().toISOString().slice(11, 19)}  ${oneLine(textOf(report))}`)
    },
    exitCode: () => worst,
  }
}

const textOf = (report: WatchReport): string => {
  switch (report.event) {
    case 'started':
      return `watching ${counted(report.runs, 'run')} in ${report.folder}`
    case 'ignored':
      return `${report.path} is left alone: ${report.detail}`
    case 'polling':
      return `${counted(report.folders, 'folder')} without events: ${report.detail}`
    case 'sending':
      return `${report.run_id}: ${prettyBytes(report.tail)} of ${prettyBytes(report.end)}`
    case 'shipped':
      return `${report.run_id}: sent ${prettyBytes(report.bytes)}, ${prettyBytes(report.tail)} are on the server`
    case 'torn':
      return `${report.run_id}: ${counted(report.torn.length, 'torn byte')} at ${report.torn.offset} kept back (${report.torn.reason})`
    case 'trouble':
      return `${report.run_id}: ${report.trouble.code}: ${report.trouble.detail}`
    case 'mended':
      return `${report.run_id}: goes on`
    case 'outage':
      return `${report.code}: ${report.detail}; nothing is lost, trying again`
    case 'reached':
      return 'the server answers again'
    case 'unsaved':
      return `what is remembered cannot be written (${report.detail}); sending goes on, and a restart reads the files again`
    case 'ended':
      return report.unsent === 0
        ? 'everything is sent'
        : `${counted(report.unsent, 'run has', 'runs have')} bytes that are not sent`
  }
}

/** What a script is to hear of. */
const exitOf = (report: WatchReport): ExitCode | undefined => {
  switch (report.event) {
    case 'trouble':
      return codeOf(report.trouble.code)
    case 'outage':
      return codeOf(report.code)
    case 'torn':
      return EXIT.torn
    default:
      return undefined
  }
}

const codeOf = (code: string): ExitCode =>
  code in EXIT_OF_PROBLEM ? EXIT_OF_PROBLEM[code as keyof typeof EXIT_OF_PROBLEM] : EXIT.conflict
