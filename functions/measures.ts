/** What is counted: `sum` adds up, `level` is how something was found. */
interface Measure {
  readonly kind: 'sum' | 'level'
  readonly unit: 'Count' | 'Bytes' | 'Seconds'
  readonly about: string
}

/**
 * All that a running service counts beside its requests, said once: a server shows it to Prometheus (`Appends` as
 * `runfold_appends_total`), a function sends it to CloudWatch under these names.
 */
export const MEASURES = {
  Appends: { kind: 'sum', unit: 'Count', about: 'Batches committed' },
  AppendedBytes: { kind: 'sum', unit: 'Bytes', about: 'Archive bytes committed' },
  Replays: { kind: 'sum', unit: 'Count', about: 'Batches that were there already' },
  Conflicts: {
    kind: 'sum',
    unit: 'Count',
    about: 'Appends at another place than the tail, or of other bytes',
  },
  Fenced: { kind: 'sum', unit: 'Count', about: 'Writes of an epoch that is over' },
  SlowDown: { kind: 'sum', unit: 'Count', about: 'Requests that were told to come again later' },
  ExtentsPerRun: { kind: 'level', unit: 'Count', about: 'Extents of a run that was looked at' },
  DueListAge: { kind: 'level', unit: 'Seconds', about: 'How long a run had been due when it was visited' },
  MergeLag: { kind: 'level', unit: 'Seconds', about: 'How long a run had been due when it was merged' },
  Merges: { kind: 'sum', unit: 'Count', about: 'Merges committed' },
  OrphanBytes: { kind: 'sum', unit: 'Bytes', about: 'Bytes removed that no head named any more' },
  MaintenanceFailures: {
    kind: 'sum',
    unit: 'Count',
    about: 'Rounds of maintenance that failed; the next tries again',
  },
  FoldHits: { kind: 'sum', unit: 'Count', about: 'Folds that went on from a state kept in memory' },
  FoldMisses: { kind: 'sum', unit: 'Count', about: 'Folds of runs of which no state was kept' },
} as const satisfies Record<string, Measure>

export type MeasureName = keyof typeof MEASURES

/** Counts; the one thing that what is counted and where it is shown have in common. */
export type Tally = (name: MeasureName, value: number) => void
