export { createSessionArchive, type SessionArchive } from './archive.ts'
export type { FileAppend } from './file.ts'
export { createSessionMaintainer, type SessionMaintainer } from './maintain.ts'
