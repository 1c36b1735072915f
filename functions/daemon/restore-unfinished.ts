import { randomUUID } from 'node:crypto'

/** The name of a file in a harness home for as long as not all of it is restored: until then it is no file of a session. */
export const unfinishedName = (): string => `.runfold-${randomUUID()}.tmp`

export const isUnfinishedName = (name: string): boolean => /^\.runfold-[0-9a-f-]{36}\.tmp$/.test(name)
