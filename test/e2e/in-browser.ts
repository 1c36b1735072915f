import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { chromiumPath, launch } from './browser.ts'
import { signedIn } from './kit.ts'
import { type Site, startSite } from './site.ts'

/** The demo run of these tests. */
export const DEMO = { seed: 1, records: 200, entryBytes: 1000 }

interface Stage {
  readonly browser: Browser
  readonly site: Site
  /** A page of who may do everything, and what goes wrong in it. */
  open(): ReturnType<typeof signedIn>
}

/** Tests with a server and a browser of their own; skipped, and saying so, where there is no browser. */
export function inBrowser(
  title: string,
  fill: (site: Site) => Promise<void>,
  tests: (on: Stage) => void,
): void {
  if (!chromiumPath) it.skip(`${title} (skipped: no Chromium is installed)`, () => {})
  describe.runIf(chromiumPath)(title, () => {
    let browser: Browser | undefined
    let site: Site | undefined
    const stage = {
      get browser() {
        return browser as Browser
      },
      get site() {
        return site as Site
      },
      open: () => signedIn(stage.browser, stage.site),
    }
    beforeAll(async () => {
      site = await startSite()
      await fill(site)
      browser = await launch()
    }, 60_000)
    afterEach(async () => {
      for (const context of stage.browser.contexts()) await context.close()
    })
    afterAll(async () => {
      await browser?.close()
      await site?.stop()
    })
    tests(stage)
  })
}
