import { mkdir } from 'node:fs/promises'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { launch } from './browser.ts'
import { signedIn, visit } from './kit.ts'
import { SESSION, storeSession } from './sample-session.ts'
import { startSite } from './site.ts'

// `npm run screenshots`: every page of the viewer as the README shows it, wide and light, narrow and dark; the run in all four.

const FOLDER = new URL('../../docs/screenshots/', import.meta.url).pathname

const PAGES = {
  runs: '#/runs',
  run: '#/runs/demo-1?point=57',
  compare: '#/runs/demo-1/compare?from=20&to=57',
  records: '#/runs/demo-1/records',
  record: '#/runs/demo-1/records?seq=15',
  usage: '#/runs/demo-1/usage',
  about: '#/runs/demo-1/about',
  sessions: '#/sessions',
  session: `#/sessions/claude-code/${SESSION.id}?machine=laptop`,
}
const WIDE = { width: 1200, height: 800 }
const NARROW = { width: 390, height: 800 }
const VARIANTS = [
  { name: 'wide-light', size: WIDE, colorScheme: 'light' },
  { name: 'narrow-dark', size: NARROW, colorScheme: 'dark' },
  { name: 'wide-dark', size: WIDE, colorScheme: 'dark' },
  { name: 'narrow-light', size: NARROW, colorScheme: 'light' },
] as const

const site = await startSite()
for (const [seed, records] of [8, 33, 21, 90, 14, 55].entries())
  await site.store(`demo-${seed + 2}`, demoArchive({ seed: seed + 2, records, entryBytes: 1200 }))
await site.store('demo-1', demoArchive({ seed: 1, records: 400, entryBytes: 2000 }))
await storeSession(site)
await mkdir(FOLDER, { recursive: true })

const browser = await launch()
const { page } = await signedIn(browser, site)
for (const [name, hash] of Object.entries(PAGES)) {
  for (const variant of name === 'run' ? VARIANTS : VARIANTS.slice(0, 2)) {
    await page.setViewportSize(variant.size)
    await page.emulateMedia({ colorScheme: variant.colorScheme })
    await visit(page, site, hash)
    await page.screenshot({ path: `${FOLDER}${name}-${variant.name}.jpg`, type: 'jpeg', quality: 52 })
  }
}
await browser.close()
await site.stop()
