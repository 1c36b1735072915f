import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { checkpoint, header, PREAMBLE } from '../functions/api/api-kit.ts'
import { chromiumPath, launch, openPage } from './browser.ts'
import { hostileArchive } from './hostile-run.ts'
import { expectNoSideways, graveFindings, settled, signedIn, visit } from './kit.ts'
import { type Site, startSite } from './site.ts'

const PAGES = {
  'the list': '#/runs',
  'a run': '#/runs/demo-1',
  'a comparison': '#/runs/demo-1/compare?from=3&to=9',
  'the records': '#/runs/demo-1/records',
  'a record': '#/runs/demo-1/records?seq=12',
  'the usage': '#/runs/demo-1/usage',
  'what is known of a run': '#/runs/demo-1/about',
  'a run that is not there': '#/runs/no-such-run',
}

if (!chromiumPath) it.skip('the viewer in a browser (skipped: no Chromium is installed)', () => {})

describe.runIf(chromiumPath)('the viewer in a browser', () => {
  let site: Site
  let browser: Browser

  beforeAll(async () => {
    site = await startSite()
    await site.store('hostile', hostileArchive('hostile'))
    await site.store('demo-1', demoArchive({ seed: 1, records: 200, entryBytes: 1000 }))
    for (let n = 0; n < 55; n++)
      await site.store(`small-${n}`, [
        PREAMBLE,
        header(`small-${n}`, { title: `Small ${n}`, agent_name: 'minnow' }),
      ])
    browser = await launch()
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    await site?.stop()
  })

  const open = () => signedIn(browser, site)

  it('signs in by the printed link, whose code works once and stays in no address', async () => {
    const { page, wrong } = await openPage(browser, site.url)
    await page.goto(`${site.url}/#login=${site.code}`)
    await page.locator('table.runs').waitFor()
    expect(page.url()).toBe(`${site.url}/#/runs`)
    expect(wrong).toEqual([])

    const again = await openPage(browser, site.url)
    await again.page.goto(`${site.url}/#login=${site.code}`)
    expect(await again.page.getByRole('alert').textContent()).toContain('used already')
  })

  it('signs in with a token, and says why one is refused', async () => {
    const { page } = await openPage(browser, site.url)
    await page.goto(`${site.url}/#/runs/demo-1`)
    await page.getByLabel('Token').fill('no-such-token')
    await page.keyboard.press('Enter')
    expect(await page.getByRole('alert').textContent()).toContain('unknown, revoked or expired')
    await page.getByLabel('Token').fill(site.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'A faster importer' }).waitFor()
    expect(page.url()).toBe(`${site.url}/#/runs/demo-1`)
    expect(await page.evaluate('localStorage.length')).toBe(0)
  })

  it('filters, searches and pages the list, and the back button goes back', async () => {
    const { page, wrong } = await open()
    await visit(page, site, '#/runs')
    const rows = page.locator('table.runs tbody tr')
    expect(await rows.count()).toBe(50)
    const newest = await rows.first().textContent()
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByText('demo-1', { exact: true }).waitFor()
    expect(await rows.count()).toBe(7)
    await page.goBack()
    await expect.poll(() => rows.count()).toBe(50)
    expect(await rows.first().textContent()).toBe(newest)

    await page.getByLabel('Search').fill('Small 12')
    await expect.poll(() => rows.count()).toBe(1)
    expect(page.url()).toContain('q=Small+12')
    await page.getByLabel('Search').fill('')
    await page.getByLabel('Status').selectOption('complete')
    await expect.poll(() => rows.count()).toBe(1)
    await page.getByRole('link', { name: 'A faster importer' }).click()
    await page.getByRole('heading', { name: 'A faster importer' }).waitFor()
    await page.goBack()
    expect(await page.getByLabel('Status').inputValue()).toBe('complete')
    expect(wrong).toEqual([])
  })

  it('brings the list up to date without moving it', async () => {
    const { page } = await open()
    await page.clock.install()
    await visit(page, site, '#/runs?order=desc&agent=mover')
    await site.store('moves-1', [PREAMBLE, header('moves-1', { agent_name: 'mover' })])
    await page.getByRole('link', { name: 'runfold' }).click()
    await visit(page, site, '#/runs?agent=mover')
    expect(await page.locator('table.runs tbody tr').count()).toBe(1)
    await site.store('moves-2', [PREAMBLE, header('moves-2', { agent_name: 'mover' })])
    await page.clock.runFor(6000)
    await page.getByRole('button', { name: 'Show 1 newer run' }).click()
    await page.locator('tr[data-run=moves-2]').waitFor()
    expect(await page.locator('table.runs tbody tr').count()).toBe(2)
  })

  it('shows the three commands to try where there are no runs', async () => {
    const empty = await startSite()
    const { page } = await signedIn(browser, empty)
    await visit(page, empty, '#/runs')
    const text = await page.locator('.first-steps pre').textContent()
    expect(text?.match(/demo run\.lvr|push run\.lvr|\bls$/gm)).toEqual(['demo run.lvr', 'push run.lvr', 'ls'])
    await empty.stop()
  })

  it('scrubs by keyboard, mouse and touch, and every point has an address', async () => {
    const { page, wrong } = await open()
    await visit(page, site, '#/runs/demo-1')
    const scrubber = page.getByRole('slider', { name: 'Point' })
    const last = Number(await scrubber.getAttribute('max'))
    await scrubber.focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.getByRole('heading', { name: `Point 2 of ${last}` }).waitFor()
    await page.waitForURL(/point=2$/)
    await settled(page)
    const { context } = await site.client.point('demo-1', 2)
    const newest = context.regions.flatMap(({ entries }) => entries ?? []).at(-1)
    expect(await page.locator('.regions').textContent()).toContain(newest?.content.trim().slice(0, 20))
    expect(await scrubber.getAttribute('aria-valuetext')).toMatch(
      /^point 2, [\d,]+ of 200,000 tokens, running/,
    )

    const plot = await page.locator('.plot').boundingBox()
    if (!plot) throw new Error('there is no plot')
    await page.mouse.move(plot.x + plot.width / 2, plot.y + 60)
    await page.mouse.down()
    await page.mouse.move(plot.x + plot.width - 13, plot.y + 60, { steps: 5 })
    await page.mouse.up()
    await page.getByRole('heading', { name: `Point ${last} of ${last}` }).waitFor()

    await page.goto(`${site.url}/#/runs/demo-1?point=3&zoom=0-20`)
    await page.reload()
    await page.getByRole('heading', { name: `Point 3 of ${last}` }).waitFor()
    expect(await scrubber.getAttribute('max')).toBe('20')
    expect(wrong).toEqual([])
  })

  it('tells what a record changed, and compares any two points', async () => {
    const { page } = await open()
    await visit(page, site, '#/runs/demo-1?point=5')
    const { items } = await site.client.points('demo-1', { from: 5, limit: 1, shape: 'delta' })
    const [operation] = (items[0] as { delta: { regions: Record<string, { name: string }>[] } }).delta.regions
    const name = Object.values(operation ?? {})[0]?.name ?? ''
    expect(await page.locator('.operation').first().textContent()).toContain(name)
    await page.getByRole('link', { name: 'Compare' }).last().click()
    await page.getByLabel('From point').fill('0')
    await page.getByLabel('To point').fill('5')
    await page.keyboard.press('Tab')
    await page.getByRole('heading', { name: 'What leads from point 0 to point 5' }).waitFor()
    expect(page.url()).toContain('compare?from=0&to=5')
    await page.getByRole('button', { name: 'Swap' }).click()
    await page.getByRole('heading', { name: 'What leads from point 5 to point 0' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: /^Point 5 / }).waitFor()
  })

  it('filters the records by kind, and shows one as the server spelled it', async () => {
    const { page } = await open()
    await visit(page, site, '#/runs/demo-1/records')
    await page.getByRole('button', { name: 'StatusChanged' }).click()
    await page.waitForURL(/kind=StatusChanged/)
    await settled(page)
    expect(new Set(await page.locator('table.records td:nth-child(2)').allInnerTexts())).toEqual(
      new Set(['StatusChanged']),
    )
    await visit(page, site, '#/runs/hostile/records?seq=2')
    expect(await page.locator('.record pre').textContent()).toContain('"at": 18014398509481985')
  })

  it('follows a live append, and keeps the place of who looks at something else', async () => {
    const frames = [PREAMBLE, header('live'), checkpoint(1, ['one']), checkpoint(2, ['one', 'two'])]
    const { append } = await site.store('live', frames)
    const { page, wrong } = await open()
    await visit(page, site, '#/runs/live')
    await page.getByRole('heading', { name: 'Point 1 of 1' }).waitFor()
    await append(checkpoint(3, ['one', 'two', 'three came later']))
    await page.getByRole('heading', { name: 'Point 2 of 2' }).waitFor()
    await page.locator('.regions').getByText('three came later').waitFor()

    await page.getByRole('button', { name: 'Point before' }).click()
    await page.getByRole('heading', { name: 'Point 1 of 2' }).waitFor()
    await append(checkpoint(4, ['one', 'two', 'three came later', 'four']))
    await page.getByRole('heading', { name: 'Point 1 of 3' }).waitFor()
    await page.getByRole('button', { name: '2 newer points' }).click()
    await page.getByRole('heading', { name: 'Point 3 of 3' }).waitFor()
    expect(wrong).toEqual([])
  })

  it('explains a token that ends meanwhile, and one that may not do this', async () => {
    const made = await site.client.makeToken({ name: 'reader', scopes: ['read'] })
    const { page } = await signedIn(browser, site, made.token)
    await visit(page, site, '#/runs/demo-1/about')
    await page.getByRole('button', { name: 'Download demo-1.lvr' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('needs a token of scope resume')
    await site.client.revokeToken(made.token_id)
    await page.getByRole('link', { name: 'Usage' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('revoked or expired')
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
    await page.getByLabel('Token').fill(site.token)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'A faster importer' }).waitFor()
    expect(page.url()).toContain('/usage')
  })

  it('downloads the verbatim bytes', async () => {
    const { page, wrong } = await open()
    await visit(page, site, '#/runs/demo-1/about')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download demo-1.lvr' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('demo-1.lvr')
    const pieces = []
    for await (const piece of await download.createReadStream()) pieces.push(piece)
    const wanted = [...demoArchive({ seed: 1, records: 200, entryBytes: 1000 })]
    expect(Buffer.concat(pieces).equals(Buffer.concat(wanted))).toBe(true)
    expect(wrong).toEqual([])
  })

  it('shows hostile content as text: nothing runs, loads, turns around or breaks', async () => {
    const { page, wrong } = await open()
    for (const hash of [
      '#/runs?q=hostile',
      '#/runs/hostile/usage',
      '#/runs/hostile/records',
      '#/runs/hostile/about',
    ])
      await visit(page, site, hash)
    await visit(page, site, '#/runs/hostile')
    await page.getByRole('button', { name: 'Show 2 earlier of 2' }).click()
    const text = await page.locator('.regions').textContent()
    for (const shown of ['<img src=x onerror', 'U+202E', '␀', 'U+E0041', 'שלום', 'https://example.com/'])
      expect(text).toContain(shown)
    expect(await page.locator('main img, main script, main a[href^="http"]').count()).toBe(0)
    await page.getByRole('button', { name: 'Show all 1,048,597 characters' }).first().click()
    await visit(page, site, '#/runs/hostile/records')
    expect(await page.getByText('unreadable', { exact: true }).count()).toBeGreaterThanOrEqual(3)
    await visit(page, site, '#/runs/hostile/records?seq=4')
    await page.getByRole('button', { name: 'Show its bytes' }).click()
    await page.getByText('{"FutureKind":{"exact":1.0,"at":1}}').first().waitFor()
    expect(await page.title()).not.toBe('owned')
    expect(wrong).toEqual([])
  })

  it('asks for little: a run is opened with few requests, and scrubbed with fewer', async () => {
    const { page } = await open()
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('/v1/') && asked.push(request.url()))
    await visit(page, site, '#/runs/demo-1?point=0')
    expect(asked.length).toBeLessThanOrEqual(8)
    asked.length = 0
    const scrubber = page.getByRole('slider', { name: 'Point' })
    await scrubber.focus()
    for (let n = 0; n < 25; n++) await page.keyboard.press('ArrowRight')
    await page.getByRole('heading', { name: /^Point 25 / }).waitFor()
    await settled(page)
    expect(asked.length).toBeLessThanOrEqual(12)
  })

  it.each(Object.entries(PAGES))(
    '%s has no grave fault of accessibility, and fits a narrow screen',
    async (_, hash) => {
      const { page } = await open()
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await visit(page, site, hash)
        expect(await graveFindings(page)).toEqual([])
      }
      await page.setViewportSize({ width: 360, height: 740 })
      await visit(page, site, hash)
      await expectNoSideways(page)
    },
  )
})
