export { createSessionArchive, type SessionArchive } from './archive.ts'
export type { FileAppend } from './file.ts'
