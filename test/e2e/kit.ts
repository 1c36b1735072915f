import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { openPage } from './browser.ts'
import type { Site } from './site.ts'

/** A page of somebody who is signed in. */
export async function signedIn(browser: Browser, site: Site, token = site.token) {
  const opened = await openPage(browser, site.url)
  await opened.page.addInitScript({ content: `sessionStorage.setItem('runfold.token', '${token}')` })
  return opened
}

/** Goes to an address of the viewer and waits until nothing loads any more. */
export async function visit(page: Page, site: Site, hash: string): Promise<void> {
  await page.goto(`${site.url}/${hash}`)
  await settled(page)
}

export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.locator('body:not(:has(.note[role=status], [aria-busy=true]))').waitFor({ state: 'attached' })
}

/** What axe-core finds to be serious or critical; Trusted Types and the policy let it in by the debugger only. */
export async function graveFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source)
  const { violations } = (await page.evaluate(`axe.run()`)) as axe.AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

/** Nothing is cut off at the side, and the page does not scroll that way. */
export async function expectNoSideways(page: Page): Promise<void> {
  const over = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect(over).toBe(0)
}
