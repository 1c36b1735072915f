import { expect, it } from 'vitest'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { hostileArchive } from './hostile-run.ts'
import { DEMO, inBrowser } from './in-browser.ts'
import { expectNoSideways, graveFindings, visit } from './kit.ts'
import { SESSION, storeSession } from './sample-session.ts'

const PAGES = {
  'the list': '#/runs?q=small-1',
  'a run': '#/runs/demo-1',
  'a comparison': '#/runs/demo-1/compare?from=3&to=9',
  'the records': '#/runs/demo-1/records',
  'a record': '#/runs/demo-1/records?seq=12',
  'the usage': '#/runs/demo-1/usage',
  'what is known of a run': '#/runs/demo-1/about',
  'the list of sessions': '#/sessions',
  'a session': `#/sessions/claude-code/${SESSION.id}?machine=laptop`,
  'a run that is not there': '#/runs/no-such-run',
}

inBrowser(
  'what people and agents have written',
  async (site) => {
    await site.store('demo-1', demoArchive(DEMO))
    await site.store('hostile', hostileArchive('hostile'))
    await storeSession(site)
  },
  (on) => {
    it('shows hostile content as text: nothing runs, loads, turns around or breaks', async () => {
      const { page, wrong } = await on.open()
      for (const hash of [
        '#/runs?q=hostile',
        '#/runs/hostile/usage',
        '#/runs/hostile/records',
        '#/runs/hostile/about',
      ])
        await visit(page, on.site, hash)
      await visit(page, on.site, '#/runs/hostile')
      await page.getByRole('button', { name: 'Show the 2 earlier' }).click()
      const text = await page.locator('.regions').textContent()
      for (const shown of ['<img src=x onerror', 'U+202E', '␀', 'U+E0041', 'שלום', 'https://example.com/'])
        expect(text).toContain(shown)
      expect(await page.locator('main img, main script, main a[href^="http"]').count()).toBe(0)
      await page.getByRole('button', { name: 'Show all 1,048,597 characters' }).first().click()
      await visit(page, on.site, '#/runs/hostile/records')
      expect(await page.getByText('unreadable', { exact: true }).count()).toBeGreaterThanOrEqual(3)
      await visit(page, on.site, '#/runs/hostile/records?seq=4')
      await page.getByRole('button', { name: 'Show its bytes' }).click()
      await page.getByText('{"FutureKind":{"exact":1.0,"at":1}}').first().waitFor()
      expect(await page.title()).not.toBe('owned')
      expect(wrong).toEqual([])
    })

    it('shows sessions: thinking folded, calls with results, sub-agents linked, problems told, images not loaded', async () => {
      const { page, wrong } = await on.open()
      await visit(page, on.site, '#/sessions')
      await page.getByRole('link', { name: 'Why does the tide table' }).click()
      await page.locator('.message').first().waitFor()
      const text = await page.locator('.messages').textContent()
      for (const shown of [
        'print <b>NaN</b>',
        'calls Read',
        'failed result of Read',
        'image, https://example.com/pixel.png',
      ])
        expect(text).toContain(shown)
      expect(await page.getByText('A leap-day bug').isVisible()).toBe(false)
      await page.getByText('Thinking', { exact: true }).click()
      expect(await page.getByText('A leap-day bug').isVisible()).toBe(true)
      await page.getByText('1 problem', { exact: true }).click()
      expect(await page.getByText('bad_json').isVisible()).toBe(true)
      await page.getByText('Raw files').click()
      await page.getByRole('table').getByText(`${SESSION.id}.jsonl`, { exact: true }).waitFor()
      await page.getByRole('link', { name: 'what the sub-agent did' }).click()
      await page.getByText('There are two.').waitFor()
      await page.getByRole('link', { name: SESSION.id }).click()
      await page.getByText('I will look.').waitFor()
      expect(await page.locator('main img').count()).toBe(0)
      expect(wrong).toEqual([])
    })

    it.each(Object.entries(PAGES))(
      '%s has no grave fault of accessibility, and fits a narrow screen',
      async (_, hash) => {
        const { page } = await on.open()
        await visit(page, on.site, hash)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          expect(await graveFindings(page)).toEqual([])
        }
        await page.setViewportSize({ width: 320, height: 740 }) // WCAG 1.4.10
        await expectNoSideways(page)
      },
    )
  },
)
