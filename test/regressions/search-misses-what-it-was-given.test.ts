import { expect, it } from 'vitest'
import { header, join, owner, PREAMBLE, testApi } from '../functions/api/api-kit.ts'

// `q` was compared in small letters. A large sigma at the end of a word becomes another small letter than one within it, so
// the first half of a title did not find the title, and neither STRASSE nor ſ and K (the Kelvin sign) found their likes. Made
// large and then small, a large ẞ, which stays as it is when made large, was still another letter than ß.

const TITLES = ['ΟΔΟΣΑ', 'Hauptstraße', 'ﬁne', '300 \u212A', 'plain']
const FOUND: [string, string][] = [
  ['ΟΔΟΣ', 'ΟΔΟΣΑ'],
  ['οδος', 'ΟΔΟΣΑ'],
  ['STRASSE', 'Hauptstraße'],
  ['ſtraße', 'Hauptstraße'],
  ['STRAẞE', 'Hauptstraße'],
  ['FINE', 'ﬁne'],
  ['300 k', '300 \u212A'],
  ['PLAIN', 'plain'],
]

it('a run is found by any part of its title, in large letters or small', async () => {
  const { root } = await testApi()
  for (const [n, title] of TITLES.entries()) {
    await root.post(`/v1/runs/r${n}/lease`, owner)
    await root.append(`r${n}`, 0, 1, join(PREAMBLE, header(`r${n}`, { title })))
  }
  for (const [q, title] of FOUND) {
    const { items } = (await root.get(`/v1/runs?q=${encodeURIComponent(q)}`)).json
    expect([q, items.map((item: { title: string }) => item.title)]).toEqual([q, [title]])
  }
})

it('a session is, too', async () => {
  const { root } = await testApi({ features: ['sessions'] })
  for (const [n, title] of TITLES.entries()) {
    const body = `${JSON.stringify({ type: 'custom-title', customTitle: title })}\n`
    const path = `/v1/sessions/claude-code/s${n}/files?machine=m&path=s${n}.jsonl&generation=1&offset=0`
    await root.send('POST', path, { headers: { 'content-type': 'application/octet-stream' }, body })
  }
  for (const [q, title] of FOUND) {
    const { items } = (await root.get(`/v1/sessions?q=${encodeURIComponent(q)}`)).json
    expect([q, items.map((item: { title: string }) => item.title)]).toEqual([q, [title]])
  }
})
