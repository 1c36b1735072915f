import { expect, it } from 'vitest'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { checkpoint, header, PREAMBLE } from '../functions/api/api-kit.ts'
import { hostileArchive } from './hostile-run.ts'
import { DEMO, inBrowser } from './in-browser.ts'
import { settled, signedIn, visit } from './kit.ts'

inBrowser(
  'a run',
  async (site) => {
    await site.store('demo-1', demoArchive(DEMO))
    await site.store('hostile', hostileArchive('hostile'))
  },
  (on) => {
    it('scrubs by keyboard, mouse and touch, and every point has an address', async () => {
      const { page, wrong } = await on.open()
      await visit(page, on.site, '#/runs/demo-1')
      const scrubber = page.getByRole('slider', { name: 'Point' })
      const last = Number(await scrubber.getAttribute('max'))
      await scrubber.focus()
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('ArrowRight')
      await page.getByRole('heading', { name: `Point 2 of ${last}` }).waitFor()
      await page.waitForURL(/point=2$/)
      await settled(page)
      const { context } = await on.site.client.point('demo-1', 2)
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
      await page.touchscreen.tap(plot.x + 84, plot.y + 60)
      await page.getByRole('heading', { name: `Point 0 of ${last}` }).waitFor()

      await page.goto(`${on.site.url}/#/runs/demo-1?point=3&zoom=0-20`)
      await page.reload()
      await page.getByRole('heading', { name: `Point 3 of ${last}` }).waitFor()
      expect(await scrubber.getAttribute('max')).toBe('20')
      expect(wrong).toEqual([])
    })

    it('tells what a record changed, and compares any two points', async () => {
      const { page } = await on.open()
      await visit(page, on.site, '#/runs/demo-1?point=5')
      const { items } = await on.site.client.points('demo-1', { from: 5, limit: 1, shape: 'delta' })
      const [operation] = (items[0] as { delta: { regions: Record<string, { name: string }>[] } }).delta
        .regions
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
      const { page } = await on.open()
      await visit(page, on.site, '#/runs/demo-1/records')
      await page.getByRole('button', { name: 'StatusChanged' }).click()
      await page.waitForURL(/kind=StatusChanged/)
      await settled(page)
      expect(new Set(await page.locator('table.records td:nth-child(2)').allInnerTexts())).toEqual(
        new Set(['StatusChanged']),
      )
      await visit(page, on.site, '#/runs/hostile/records?seq=2')
      expect(await page.locator('.record pre').textContent()).toContain('"at": 18014398509481985')
    })

    it('follows a live append, and keeps the place of who looks at something else', async () => {
      const frames = [PREAMBLE, header('live'), checkpoint(1, ['one']), checkpoint(2, ['one', 'two'])]
      const { append } = await on.site.store('live', frames)
      const { page, wrong } = await on.open()
      await visit(page, on.site, '#/runs/live')
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
      const made = await on.site.client.makeToken({ name: 'reader', scopes: ['read'] })
      const { page } = await signedIn(on.browser, on.site, made.token)
      await visit(page, on.site, '#/runs/demo-1/about')
      await page.getByRole('button', { name: 'Download demo-1.lvr' }).click()
      expect(await page.getByRole('alert').textContent()).toContain('needs a token of scope resume')
      await on.site.client.revokeToken(made.token_id)
      await page.getByRole('link', { name: 'Usage' }).click()
      expect(await page.getByRole('alert').textContent()).toContain('revoked or expired')
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await page.getByLabel('Token').fill(on.site.token)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'A faster importer' }).waitFor()
      expect(page.url()).toContain('/usage')
    })

    it('downloads the verbatim bytes', async () => {
      const { page, wrong } = await on.open()
      await visit(page, on.site, '#/runs/demo-1/about')
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

    it('asks for little: a run is opened with few requests, and scrubbed with fewer', async () => {
      const { page } = await on.open()
      const asked: string[] = []
      page.on('request', (request) => request.url().includes('/v1/') && asked.push(request.url()))
      await visit(page, on.site, '#/runs/demo-1?point=0')
      expect(asked.length).toBeLessThanOrEqual(8)
      asked.length = 0
      const scrubber = page.getByRole('slider', { name: 'Point' })
      await scrubber.focus()
      for (let n = 0; n < 25; n++) await page.keyboard.press('ArrowRight')
      await page.getByRole('heading', { name: /^Point 25 / }).waitFor()
      await settled(page)
      expect(asked.length).toBeLessThanOrEqual(12)
    })
  },
)
