import { digestOf, loadDigest } from '../../codec/index.ts'
import { partPath, RunfoldError } from '../../schema/index.ts'
import type { Clock, ObjectFacts, Objects, OwnParts, SignedPart, StoredPart, Uploads } from '../ports.ts'

// Direct uploads for a store whose parts come to this very server: each part is an object of its own until the upload is
// complete, and its URL carries an HMAC instead of a token.
//
//   uploads/<storage_id>-open                          there while the upload is, with the facts of the object to be
//   uploads/<storage_id>-<part_number>-<sha256>        a part

/** A part is received whole, so it may be as long as a batch. */
const MAX_PART_BYTES = 8 * 1024 * 1024

const NOTHING = new Uint8Array(0)
/** What all of these keys begin with. */
export const PARTS_PREFIX = 'uploads/'
const prefixOf = (storage_id: string) => `${PARTS_PREFIX}${storage_id}-`
const markerOf = (storage_id: string) => `${prefixOf(storage_id)}open`
const partKey = (storage_id: string, part_number: number, hash: string) =>
  `${prefixOf(storage_id)}${part_number}-${hash}`

/** The upload that an object under `PARTS_PREFIX` belongs to. */
export const storageIdOf = (key: string) => key.slice(PARTS_PREFIX.length).split('-')[0] ?? ''

/** @param secret signs the URLs; kept as long as URLs are to outlive the process */
export function ownUploads(objects: Objects, clock: Clock, secret: Uint8Array<ArrayBuffer>): Uploads {
  const isOpen = async (storage_id: string) => (await objects.facts(markerOf(storage_id))) !== undefined

  const removeAll = async (storage_id: string) => {
    // The marker goes first: a part that comes meanwhile sees that and takes itself away.
    await objects.remove([markerOf(storage_id)])
    const keys: string[] = []
    for await (const { key } of objects.list(prefixOf(storage_id))) keys.push(key)
    await objects.remove(keys)
  }

  return {
    maxPartBytes: MAX_PART_BYTES,
    open: async (_key, facts) => {
      const storage_id = randomHex()
      await objects.put(markerOf(storage_id), [NOTHING], facts)
      return storage_id
    },
    partUrl: async ({ storage_id }, { part_number, length }, seconds) => {
      const claim = { storage_id, part_number, length, expires: clock.now() + seconds * 1000 }
      const signature = await sign(secret, claim)
      return `${partPath(storage_id, part_number)}?length=${length}&expires=${claim.expires}&signature=${signature}`
    },
    complete: async ({ key, storage_id }, parts) => {
      const end = parts.reduce((sum, { length }) => sum + length, 0)
      const stands = async () => (await objects.get(key, { start: end - 1, end })) !== undefined
      if (!(await stands())) {
        // Another completion takes the parts away when it is done.
        await compose(objects, key, storage_id, parts).catch(async (error) => {
          if (!(await stands())) throw error
        })
      }
      await removeAll(storage_id)
    },
    abort: ({ storage_id }) => removeAll(storage_id),
    own: ownParts(objects, clock, secret, isOpen),
  }
}

async function compose(
  objects: Objects,
  key: string,
  storage_id: string,
  parts: readonly StoredPart[],
): Promise<void> {
  const facts: ObjectFacts | undefined = await objects.facts(markerOf(storage_id))
  if (!facts) throw noSuchUpload()
  const copies = parts.map(({ part_number, etag, length }) => ({
    copy: partKey(storage_id, part_number, hashOf(etag)),
    range: { start: 0, end: length },
  }))
  const found = await Promise.all(copies.map(({ copy }) => objects.facts(copy)))
  const missing = parts[found.indexOf(undefined)]
  if (missing) {
    // An abort meanwhile took the marker first; the client is not to be told that its ETag is wrong.
    if (!(await objects.facts(markerOf(storage_id)))) throw noSuchUpload()
    throw noSuchPart(missing.part_number)
  }
  await objects.compose(key, copies, facts)
}

const ownParts = (
  objects: Objects,
  clock: Clock,
  secret: Uint8Array<ArrayBuffer>,
  isOpen: (storage_id: string) => Promise<boolean>,
): OwnParts => ({
  check: async ({ signature, ...claim }) => {
    if (!(await isSigned(secret, claim, signature)) || claim.expires <= clock.now()) {
      throw new RunfoldError('forbidden', 'this URL is not one that was given, or its time is over')
    }
    if (!(await isOpen(claim.storage_id))) throw noSuchUpload()
  },
  put: async ({ storage_id, part_number, length }, bytes) => {
    if (bytes.length !== length) {
      const message = `the part has ${bytes.length} bytes, ${length} were announced`
      throw new RunfoldError('bad_request', message, { issues: [{ path: '', message }] })
    }
    await loadDigest()
    const hash = digestOf(bytes)
    const key = partKey(storage_id, part_number, hash)
    await objects.put(key, [bytes], {})
    if (await isOpen(storage_id)) return `"${hash}"`
    await objects.remove([key])
    throw noSuchUpload()
  },
})

const noSuchUpload = () => new RunfoldError('not_found', 'there is no such upload')

/** As the storage says it of a part that is missing or was replaced. */
export function noSuchPart(part_number?: number): RunfoldError {
  const which = part_number === undefined ? 'a part' : `part ${part_number}`
  const message = `${which} is not stored with the ETag that was given`
  return new RunfoldError('bad_request', message, { issues: [{ path: 'parts', message }] })
}

/** The hash in a quoted or bare ETag; another text, which names no part, becomes one that never exists. */
const hashOf = (etag: string) => /^"?([0-9a-f]{64})"?$/.exec(etag)?.[1] ?? 'none'

type Claim = Omit<SignedPart, 'signature'>

const bytesToSign = ({ storage_id, part_number, length, expires }: Claim) =>
  new TextEncoder().encode(`PUT\n${partPath(storage_id, part_number)}\n${length}\n${expires}`)

const keyOf = (secret: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])

async function sign(secret: Uint8Array<ArrayBuffer>, claim: Claim): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), bytesToSign(claim))))
}

/** In constant time. */
async function isSigned(secret: Uint8Array<ArrayBuffer>, claim: Claim, signature: string): Promise<boolean> {
  const given = Uint8Array.from(signature.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
  return crypto.subtle.verify('HMAC', await keyOf(secret), given, bytesToSign(claim))
}

const ID_BYTES = 16
/** Nobody can guess one. */
export const randomHex = () => hex(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
