declare module 'dynalite' {
  import type { Server } from 'node:http'

  interface DynaliteOptions {
    /** Folder of its LevelDB; in memory without one. */
    readonly path?: string
    readonly createTableMs?: number
  }

  export default function dynalite(options?: DynaliteOptions): Server
}
