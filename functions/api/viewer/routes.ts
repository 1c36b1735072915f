import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Context, Hono } from 'hono'
import type { Env } from '../env.ts'
import { noneMatch } from '../etag.ts'
import type { ViewerFile } from './built.ts'
import { VIEWER_HEADERS } from './headers.ts'

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

interface Served {
  readonly headers: Readonly<Record<string, string>>
  readonly etag: string
  readonly plain: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
}

/**
 * `GET /` and the files it names, to anyone: they hold no data. They are loaded when a browser first asks, so that servers
 * nobody looks at start no bundler.
 */
export function viewerRoutes(app: Hono<Env>, load: () => Promise<readonly ViewerFile[]>): void {
  let loading: Promise<ReadonlyMap<string, Served>> | undefined
  const files = () => {
    loading ??= load().then((list) => new Map(list.map((file) => [file.name, served(file)])))
    loading.catch(() => {
      loading = undefined // a failure is answered, and tried again
    })
    return loading
  }
  const answer = (nameOf: (c: Context<Env>) => string) => async (c: Context<Env>) => {
    c.set('seen', { ...c.get('seen'), route: 'viewer' })
    const file = (await files()).get(nameOf(c))
    return file ? respond(file, c.req.raw.headers) : c.notFound()
  }
  app.get(
    '/',
    answer(() => 'index.html'),
  )
  app.get(
    '/:name{[a-z-]+\\.(?:js|css)}',
    answer((c) => c.req.param('name') ?? ''),
  )
}

function served({ name, bytes }: ViewerFile): Served {
  const plain = new Uint8Array(bytes)
  const etag = `"${createHash('sha256').update(plain).digest('hex').slice(0, 32)}"`
  const type = TYPES[name.replace(/^.*\./, '')] ?? 'application/octet-stream'
  const headers = {
    ...VIEWER_HEADERS,
    'Content-Type': type,
    'Cache-Control': 'no-cache', // names stay the same from version to version, so each use asks for the tag
    ETag: etag,
    Vary: 'Accept-Encoding',
  }
  return { headers, etag, plain, gzip: new Uint8Array(gzipSync(plain)) }
}

function respond({ headers, etag, plain, gzip }: Served, asked: Headers): Response {
  if (noneMatch(asked.get('if-none-match'), etag)) return new Response(null, { status: 304, headers })
  if (!/\bgzip\b/.test(asked.get('accept-encoding') ?? '')) return new Response(plain, { headers })
  return new Response(gzip, { headers: { ...headers, 'Content-Encoding': 'gzip' } })
}
