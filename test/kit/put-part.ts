import { isRunfoldError, partParams, partQuery } from '#schema'
import type { StorePorts } from '#store'

export interface PutPart {
  readonly status: number
  readonly etag: string
}

/** A PUT to the URL of a part as anybody may do it: over the network, or into the ports where the URL is this server's own. */
export async function putPart({ uploads }: StorePorts, url: string, bytes: Uint8Array): Promise<PutPart> {
  if (!url.startsWith('/')) {
    const answer = await fetch(url, { method: 'PUT', body: bytes as Uint8Array<ArrayBuffer> })
    await answer.arrayBuffer()
    return { status: answer.status, etag: answer.headers.get('etag') ?? '' }
  }
  try {
    const { pathname, searchParams } = new URL(url, 'http://own')
    const [, , , storage_id, part_number] = pathname.split('/')
    const part = {
      ...partParams.parse({ storage_id, part_number }),
      ...partQuery.parse(Object.fromEntries(searchParams)),
    }
    await uploads.own?.check(part)
    return { status: 200, etag: (await uploads.own?.put(part, bytes)) ?? '' }
  } catch (error) {
    return { status: isRunfoldError(error) ? error.status : 400, etag: '' }
  }
}
