// runfold/spool: appends that are durable on this machine's disk first. For Node.

export * from '../daemon/spool/index.ts'
