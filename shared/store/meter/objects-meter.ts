import type { ComposePart, Objects, Uploads } from '../ports.ts'
import type { Counter } from './counter.ts'
import type { Tariff } from './tariff.ts'

/** The objects, each of whose calls is counted as the requests that the tariff makes of it. */
export function meteredObjects(objects: Objects, tariff: Tariff, count: Counter): Objects {
  const storing = (parts: readonly ComposePart[]) => {
    for (const { kind, length, units } of tariff.storing(parts)) count.add(kind, length, units)
  }
  return {
    put: async (key, chunks, facts) => {
      storing(chunks.map((bytes) => ({ bytes })))
      await objects.put(key, chunks, facts)
    },
    compose: async (key, parts, facts) => {
      storing(parts)
      await objects.compose(key, parts, facts)
    },
    get: async (key, range) => {
      const bytes = await objects.get(key, range)
      count.add('get', bytes?.length ?? 0)
      return bytes
    },
    tagged: async (key, range) => {
      const found = await objects.tagged(key, range)
      count.add('get', found?.bytes.length ?? 0)
      return found
    },
    facts: async (key) => {
      count.add('get', 0)
      return objects.facts(key)
    },
    // Signing asks nobody.
    ...(objects.url && { url: (...asked) => (objects.url as Required<Objects>['url'])(...asked) }),
    remove: async (keys) => {
      count.add('delete', 0)
      await objects.remove(keys)
    },
    async *list(prefix) {
      let seen = 0
      count.add('list', 0)
      for await (const object of objects.list(prefix)) {
        if (++seen % tariff.listed === 0) count.add('list', 0)
        yield object
      }
    },
  }
}

/** The same of uploads; a part is counted when its URL is given, since the part itself does not come by here. */
export function meteredUploads(uploads: Uploads, count: Counter): Uploads {
  return {
    ...uploads,
    maxPartBytes: uploads.maxPartBytes,
    open: async (key, facts) => {
      count.add('post', 0)
      return uploads.open(key, facts)
    },
    partUrl: async (place, part, seconds) => {
      count.add('put', part.length)
      return uploads.partUrl(place, part, seconds)
    },
    complete: async (place, parts) => {
      count.add('post', 0)
      await uploads.complete(place, parts)
    },
    abort: async (place) => {
      count.add('delete', 0)
      await uploads.abort(place)
    },
  }
}
