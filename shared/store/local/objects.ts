import type { FileHandle } from 'node:fs/promises'
import { open, readdir, readFile, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { RunfoldError } from '../../schema/index.ts'
import type { ByteRange, ObjectFacts, Objects, StoredObject } from '../ports.ts'
import type { Disk, NewFile } from './disk.ts'
import { diskError, errnoOf } from './disk-error.ts'
import { decode, pathOf } from './file-name.ts'

const COPY_BYTES = 1024 * 1024
/** What is known of an object stands in a file beside it, so that its own file holds its bytes and nothing else. */
const FACTS = '~facts.json'

/** Objects as files under one folder, named by their keys. */
export function fileObjects(disk: Disk): Objects {
  const fileOf = (key: string) => disk.absolute(pathOf(key))

  const write = (key: string, fill: NewFile['fill'], facts: ObjectFacts) =>
    disk.write([
      { file: pathOf(key), fill },
      {
        file: pathOf(key) + FACTS,
        fill: (handle) => writeAll(handle, [new TextEncoder().encode(JSON.stringify(facts))]),
      },
    ])

  const copyRange = async (source: string, { start, end }: ByteRange, target: FileHandle) => {
    const handle = await open(fileOf(source), 'r').catch((error) => {
      if (errnoOf(error) === 'ENOENT')
        throw new RunfoldError('not_found', 'a source of the composition is gone')
      throw error
    })
    try {
      // One piece of memory for all of it: a large object would else leave as much behind as it is long.
      const piece = new Uint8Array(Math.min(COPY_BYTES, end - start))
      for (let at = start; at < end; at += COPY_BYTES) {
        const range = { start: at, end: Math.min(end, at + COPY_BYTES) }
        await writeAll(target, [await readExactly(handle, range, piece)])
      }
    } finally {
      await handle.close()
    }
  }

  return {
    put: (key, chunks, facts) => write(key, (handle) => writeAll(handle, chunks), facts),
    get: (key, range) =>
      absentAsUndefined(async () => {
        const handle = await open(fileOf(key), 'r')
        try {
          return await readExactly(handle, range ?? { start: 0, end: (await handle.stat()).size })
        } finally {
          await handle.close()
        }
      }),
    tagged: (key, { start, end }) =>
      absentAsUndefined(async () => {
        const handle = await open(fileOf(key), 'r')
        try {
          const { size, ino, mtimeNs } = await handle.stat({ bigint: true })
          const length = Number(size)
          const range = { start: Math.min(start, length), end: Math.min(end, length) }
          return { bytes: await readExactly(handle, range), etag: `${ino}-${mtimeNs}-${size}`, length }
        } finally {
          await handle.close()
        }
      }),
    compose: (key, parts, facts) =>
      write(
        key,
        async (handle) => {
          for (const part of parts) {
            if ('bytes' in part) await writeAll(handle, [part.bytes])
            else await copyRange(part.copy, part.range, handle)
          }
        },
        facts,
      ),
    remove: async (keys) => {
      for (const key of keys) {
        await absentAsUndefined(() => unlink(fileOf(key)))
        await absentAsUndefined(() => unlink(fileOf(key) + FACTS))
      }
    },
    list: (prefix) => {
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
      return listFolder(disk, folder, prefix)
    },
    facts: (key) =>
      absentAsUndefined(async () => JSON.parse(await readFile(fileOf(key) + FACTS, 'utf8')) as ObjectFacts),
  }
}

/** `folder` is the beginning of a key, up to a slash. */
async function* listFolder(disk: Disk, folder: string, prefix: string): AsyncGenerator<StoredObject> {
  const at = disk.absolute(pathOf(folder))
  const found = (await absentAsUndefined(() => readdir(at, { withFileTypes: true }))) ?? []
  const names = new Set(found.map(({ name }) => name))
  const entries = found
    .filter(({ name }) => !name.startsWith('.') && !(name.endsWith(FACTS) && names.has(objectOf(name))))
    .flatMap((entry) => {
      const part = decode(objectOf(entry.name))
      const key = `${folder}${part}${entry.isDirectory() ? '/' : ''}`
      return part ? [{ file: entry.name, isRemoved: entry.name.endsWith(FACTS), key }] : []
    })
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  for (const { file, key, isRemoved } of entries) {
    if (key.endsWith('/')) {
      yield* listFolder(disk, key, prefix)
    } else if (key.startsWith(prefix)) {
      const facts = await absentAsUndefined(() => stat(path.join(at, file)))
      // Of an object whose removal a kill has cut in two the facts are left; whoever sweeps is to remove it again.
      if (facts) yield { key, length: isRemoved ? 0 : facts.size, stored_at: Math.round(facts.mtimeMs) }
    }
  }
}

/** The name of the object's file, by its own or that of its facts. */
const objectOf = (name: string) => (name.endsWith(FACTS) ? name.slice(0, -FACTS.length) : name)

async function writeAll(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  for (const chunk of chunks) {
    for (let done = 0; done < chunk.length; ) {
      done += (await handle.write(chunk, done, chunk.length - done)).bytesWritten
    }
  }
}

/** Into memory of its own, or the beginning of what is given. */
async function readExactly(
  handle: FileHandle,
  { start, end }: ByteRange,
  into?: Uint8Array,
): Promise<Uint8Array> {
  const { size } = await handle.stat()
  if (end > size) {
    throw new RunfoldError('internal', `an object holds ${size} bytes, ${end} were expected`)
  }
  const bytes = into?.subarray(0, end - start) ?? new Uint8Array(end - start)
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done)
    if (bytesRead === 0) throw new RunfoldError('internal', 'an object became shorter while it was read')
    done += bytesRead
  }
  return bytes
}

async function absentAsUndefined<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw diskError(error)
  }
}
