import { expect, it } from 'vitest'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { header, PREAMBLE } from '../functions/api/api-kit.ts'
import { openPage } from './browser.ts'
import { DEMO, inBrowser } from './in-browser.ts'
import { graveFindings, signedIn, visit } from './kit.ts'
import { startSite } from './site.ts'

inBrowser(
  'the way in and the list of runs',
  async (site) => {
    await site.store('demo-1', demoArchive(DEMO))
    for (let n = 0; n < 55; n++)
      await site.store(`small-${n}`, [
        PREAMBLE,
        header(`small-${n}`, { title: `Small ${n}`, agent_name: 'minnow' }),
      ])
  },
  (on) => {
    it('signs in by the printed link, whose code works once and stays in no address', async () => {
      const { page, wrong } = await openPage(on.browser, on.site.url)
      await page.goto(`${on.site.url}/#login=${on.site.code}`)
      await page.locator('table.runs').waitFor()
      expect(page.url()).toBe(`${on.site.url}/#/runs`)
      expect(wrong).toEqual([])

      const again = await openPage(on.browser, on.site.url)
      await again.page.goto(`${on.site.url}/#login=${on.site.code}`)
      expect(await again.page.getByRole('alert').textContent()).toContain('used already')
    })

    it('signs in with a token, and says why one is refused', async () => {
      const { page } = await openPage(on.browser, on.site.url)
      await page.goto(`${on.site.url}/#/runs/demo-1`)
      await page.getByLabel('Token').waitFor()
      expect(await graveFindings(page)).toEqual([])
      await page.getByLabel('Token').fill('no-such-token')
      await page.keyboard.press('Enter')
      expect(await page.getByRole('alert').textContent()).toContain('unknown, revoked or expired')
      await page.getByLabel('Token').fill(on.site.token)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'A faster importer' }).waitFor()
      expect(page.url()).toBe(`${on.site.url}/#/runs/demo-1`)
      expect(await page.evaluate('localStorage.length')).toBe(0)
    })

    it('filters, searches and pages the list, and the back button goes back', async () => {
      const { page, wrong } = await on.open()
      await visit(page, on.site, '#/runs')
      const rows = page.locator('table.runs tbody tr')
      expect(await rows.count()).toBe(50)
      const newest = await rows.first().textContent()
      await page.getByRole('link', { name: 'Next page' }).click()
      await page.getByText('demo-1', { exact: true }).waitFor()
      expect(await rows.count()).toBe(6)
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

    it('stands where it was left when one goes back', async () => {
      const { page } = await on.open()
      await visit(page, on.site, '#/runs')
      await page.locator('tr[data-run=small-20] a').first().click()
      await page.getByRole('heading', { name: 'Small 20' }).waitFor()
      expect(await page.evaluate('scrollY')).toBe(0)
      await page.goBack()
      await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(500)
    })

    it('brings the list up to date without moving it', async () => {
      const { page } = await on.open()
      await page.clock.install()
      await visit(page, on.site, '#/runs?order=desc&agent=mover')
      await on.site.store('moves-1', [PREAMBLE, header('moves-1', { agent_name: 'mover' })])
      await page.getByRole('link', { name: 'runfold' }).click()
      await visit(page, on.site, '#/runs?agent=mover')
      expect(await page.locator('table.runs tbody tr').count()).toBe(1)
      await on.site.store('moves-2', [PREAMBLE, header('moves-2', { agent_name: 'mover' })])
      await page.clock.runFor(6000)
      await page.getByRole('button', { name: 'Show 1 newer run' }).click()
      await page.locator('tr[data-run=moves-2]').waitFor()
      expect(await page.locator('table.runs tbody tr').count()).toBe(2)
    })

    it('shows the three commands to try where there are no runs', async () => {
      const empty = await startSite()
      const { page } = await signedIn(on.browser, empty)
      await visit(page, empty, '#/runs')
      const text = await page.locator('.first-steps pre').textContent()
      expect(text?.match(/demo run\.lvr|push run\.lvr|\bls$/gm)).toEqual([
        'demo run.lvr',
        'push run.lvr',
        'ls',
      ])
      await empty.stop()
    })
  },
)
