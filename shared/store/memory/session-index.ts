import type { SessionKey } from '../../schema/index.ts'
import type {
  ClosedGeneration,
  FileItem,
  FilePlace,
  NamedFile,
  NamedGeneration,
  SessionHead,
  SessionIndex,
  Versioned,
} from '../ports.ts'
import { comparePlaces, sessionName } from '../session-place.ts'

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** The reference: Maps by session and path, each method one synchronous step. */
export function memorySessionIndex(): SessionIndex {
  const heads = new Map<string, { readonly session: SessionKey; readonly head: SessionHead }>()
  const files = new Map<string, Map<string, FilePlace & NamedFile>>()
  const closed = new Map<string, Map<string, FilePlace & NamedGeneration>>()
  const nameOf = (session: SessionKey) => `${session.tenant}/${sessionName(session)}`
  const placeName = ({ life, path }: FilePlace) => JSON.stringify([life, path])

  const sorted = () => [...heads.values()].sort((a, b) => compare(nameOf(a.session), nameOf(b.session)))

  return {
    head: async (session) => heads.get(nameOf(session))?.head,
    heads: async (sessions) => sessions.map((session) => heads.get(nameOf(session))?.head),
    putHead: async (session, head) => {
      if (!succeeds(head, heads.get(nameOf(session))?.head)) return false
      heads.set(nameOf(session), { session, head })
      return true
    },
    file: async (session, place) => files.get(nameOf(session))?.get(placeName(place))?.file,
    putFile: async (session, place, file) => {
      const kept = mapOf(files, nameOf(session))
      if (!succeeds(file, kept.get(placeName(place))?.file)) return false
      kept.set(placeName(place), { ...place, file })
      return true
    },
    async *files(session, life) {
      const found = [...(files.get(nameOf(session))?.values() ?? [])].filter((each) => each.life === life)
      for (const { path, file } of found.sort((a, b) => compare(a.path, b.path))) yield { path, file }
    },
    closed: async (session, place, generation) =>
      closed.get(nameOf(session))?.get(`${placeName(place)} ${generation}`)?.closed,
    putClosed: async (session, place, generation) => {
      const kept = mapOf(closed, nameOf(session))
      const name = `${placeName(place)} ${generation.generation}`
      if ((kept.get(name)?.closed.version ?? 0) > generation.version) return
      kept.set(name, { ...place, closed: generation })
    },
    async *closedGenerations(session, life) {
      const found = [...(closed.get(nameOf(session))?.values() ?? [])].filter((each) => each.life === life)
      const number = ({ closed: { generation } }: { closed: ClosedGeneration }) => generation
      found.sort((a, b) => compare(a.path, b.path) || number(a) - number(b))
      for (const { path, closed } of found) yield { path, closed }
    },
    forgetFiles: async (session, before) => {
      for (const kept of [files.get(nameOf(session)), closed.get(nameOf(session))]) {
        for (const [name, { life }] of kept ?? []) if (life < before) kept?.delete(name)
      }
    },
    machines: async (tenant, harness, id) =>
      sorted()
        .map(({ session }) => session)
        .filter((found) => found.tenant === tenant && found.harness === harness && found.id === id)
        .map(({ machine }) => machine),
    list: async (tenant, after, limit) =>
      [...heads.values()]
        .flatMap(({ session, head }) => {
          const { listed_at } = head
          return session.tenant === tenant && listed_at !== null ? [{ session, head, listed_at }] : []
        })
        .filter((row) => !after || comparePlaces(row, after) > 0)
        .sort(comparePlaces)
        .slice(0, limit)
        .map(({ session, head }) => ({ session, head })),
    due: async (now, limit) =>
      [...heads.values()]
        .flatMap(({ session, head: { due_at } }) =>
          due_at !== null && due_at <= now ? [{ session, due_at }] : [],
        )
        .sort((a, b) => a.due_at - b.due_at)
        .slice(0, limit)
        .map(({ session }) => session),
    everySession: async (after, limit) =>
      sorted()
        .filter(({ session }) => !after || compare(nameOf(session), nameOf(after)) > 0)
        .slice(0, limit)
        .map(({ session }) => session),
  }
}

const succeeds = (item: Versioned, stored: FileItem | SessionHead | undefined) =>
  item.version === (stored?.version ?? 0) + 1

/** The map under this name, made where there is none. */
function mapOf<T>(maps: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const found = maps.get(name) ?? new Map<string, T>()
  maps.set(name, found)
  return found
}
