import type { SessionKey } from '../../schema/index.ts'
import { transcriptsOf } from '../harnesses.ts'
import { deriveAgent, deriveSession } from './derive.ts'
import { currentFiles } from './files.ts'
import { isLiving } from './head.ts'
import type { SessionParts } from './parts.ts'

const PAGE = 100

export type Rederived =
  | {
      readonly session: SessionKey
      readonly outcome: 'derived'
      readonly documents: number
      readonly bytes: number
    }
  | { readonly session: SessionKey; readonly outcome: 'failed'; readonly error: unknown }

/**
 * Makes everything that is derived of sessions anew from their raw files, one session after the other, whatever is stored
 * already. Answers stay what they are meanwhile; what is replaced goes with the sweep.
 */
export async function* rederiveAll(parts: SessionParts): AsyncGenerator<Rederived> {
  let after: SessionKey | undefined
  do {
    const page = await parts.ports.sessions.everySession(after, PAGE)
    for (const session of page) {
      const head = await parts.ports.sessions.head(session)
      if (isLiving(head)) yield await rederive(parts, session, head.life)
    }
    after = page.length === PAGE ? page.at(-1) : undefined
  } while (after)
}

async function rederive(parts: SessionParts, session: SessionKey, life: number): Promise<Rederived> {
  const anew = { want: 'document', anew: true } as const
  try {
    const { derived } = await deriveSession(parts, session, anew)
    const made = [derived?.bytes ?? 0]
    const paths = (await currentFiles(parts, session, life)).map(({ path }) => path)
    for (const { agent } of transcriptsOf(session.harness, session.id, paths)) {
      if (agent !== undefined) made.push((await deriveAgent(parts, session, agent, anew)).bytes)
    }
    return {
      session,
      outcome: 'derived',
      documents: made.length,
      bytes: made.reduce((sum, bytes) => sum + bytes, 0),
    }
  } catch (error) {
    return { session, outcome: 'failed', error }
  }
}
