export { type DrainOptions, drainSpool } from './drain.ts'
export { SpoolDamaged, type SpoolRecord } from './segment.ts'
export { openSpool, Spool, type SpoolAppend, type SpoolOptions } from './spool.ts'
