import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { packageRoot, viewerFiles } from '../../../functions/api/viewer/files.ts'
import { viewerRoutes } from '../../../functions/api/viewer/routes.ts'
import { testApi } from '../api/api-kit.ts'

const files = [
  { name: 'index.html', bytes: new TextEncoder().encode('<!doctype html><p>é') },
  { name: 'main.js', bytes: new TextEncoder().encode('let a') },
]

async function viewer(load: Parameters<typeof viewerRoutes>[1] = async () => files) {
  const { app, as } = await testApi()
  viewerRoutes(app, load)
  return {
    api: as(null),
    get: (path: string, headers: Record<string, string> = {}) =>
      app.request(`http://127.0.0.1${path}`, { headers }, { target: path }),
  }
}

describe('the viewer', () => {
  it('is served to anyone, as files that are asked for anew each time', async () => {
    const { get } = await viewer()
    const page = await get('/')
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toBe('<!doctype html><p>é')
    const etag = page.headers.get('etag') ?? ''
    expect((await get('/', { 'if-none-match': etag })).status).toBe(304)
    expect((await get('/main.js')).headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect((await get('/other.js')).status).toBe(404)
  })

  it('is packed for whoever takes that', async () => {
    const { get } = await viewer()
    const page = await get('/', { 'accept-encoding': 'br, gzip' })
    expect(page.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(Buffer.from(await page.arrayBuffer())).toString()).toBe('<!doctype html><p>é')
  })

  it('may run and load nothing but its own files, whatever a transcript holds', async () => {
    const { get } = await viewer()
    const { headers } = await get('/')
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('is tried again after it could not be loaded', async () => {
    let times = 0
    const { get } = await viewer(async () => {
      if (times++ === 0) throw new Error('the disk is away')
      return files
    })
    expect((await get('/')).status).toBe(500)
    expect((await get('/')).status).toBe(200)
  })

  it('that is not there is no route, and the API is as without it', async () => {
    const { get, api } = await viewer(async () => [])
    expect((await get('/')).status).toBe(404)
    expect((await api.get('/v1/health')).status).toBe(200)
  })

  it('is made from its source, with neither inline script nor style, and nothing from elsewhere', async () => {
    const made = await viewerFiles(packageRoot())
    expect(made.map(({ name }) => name).sort()).toEqual(['index.html', 'main.css', 'main.js'])
    const page = Buffer.from(made[0]?.bytes ?? []).toString()
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=/)
    expect(page.match(/(?:src|href)="(?!data:)[^"]*"/g)).toEqual(['href="main.css"', 'src="main.js"'])
  })
})
