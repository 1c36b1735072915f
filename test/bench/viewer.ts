import { gzipSync } from 'node:zlib'
import type { Browser, Page } from 'playwright-core'
import { bundleViewer } from '../../functions/api/viewer/bundle.ts'
import { packageRoot } from '../../functions/api/viewer/files.ts'
import { demoArchive } from '../../functions/cli/demo-run.ts'
import { chromiumPath, launch } from '../e2e/browser.ts'
import { signedIn } from '../e2e/kit.ts'
import { type Site, startSite } from '../e2e/site.ts'
import { type Figures, median, rounded } from './figures.ts'

/** A demo run of so many records has 50,000 points and, with entries this short, 371 MB. */
const DEMO = { seed: 1, records: 241_788, entryBytes: 800 }
const POINTS = 50_000
const OPENS = 5
const SCRUB_STEPS = 240
/** Frames are counted in stretches of this length, and the slowest one is the figure. */
const STRETCH_MS = 500

/** How soon a long run stands on the screen, how smoothly one scrubs through it, and what the page takes. */
export async function viewerBench(log: (line: string) => void): Promise<Figures> {
  const files = await bundleViewer(packageRoot())
  const bundle_gzip_bytes = files.reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0)
  if (!chromiumPath) {
    log('no Chromium is installed: only the size is measured')
    return { bundle_gzip_bytes }
  }
  const site = await startSite()
  const browser = await launch(['--enable-precise-memory-info'])
  try {
    log(`storing a run of ${POINTS} points`)
    await site.store('demo-1', demoArchive(DEMO))
    await snapshotted(site)
    log('opening it')
    const opened: number[] = []
    for (let n = 0; n < OPENS; n++) opened.push(await open(browser, site, n * 9999))
    log('scrubbing through it')
    return {
      open_50k_ms: rounded(median(opened), 0),
      ...(await scrub(browser, site)),
      bundle_gzip_bytes,
    }
  } finally {
    await browser.close()
    await site.stop()
  }
}

/** As a run is a while after it has ended; maintenance makes its snapshots. */
async function snapshotted({ client }: Site): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    const { snapshot, frames } = await client.run('demo-1')
    if (snapshot?.seq === frames) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error('the run got no snapshots in two minutes')
}

/** From the address to the chart, in its first and coarse picture, and the exact window of the point, ms. */
async function open(browser: Browser, site: Site, point: number): Promise<number> {
  const { page } = await signedIn(browser, site)
  const began = performance.now()
  await page.goto(`${site.url}/#/runs/demo-1?point=${point}`)
  await page.locator('.regions .entry').first().waitFor()
  await page.locator('.plot[data-samples]:not([data-samples="0"])').waitFor()
  const ms = performance.now() - began
  await page.context().close()
  return ms
}

async function scrub(browser: Browser, site: Site): Promise<Figures> {
  const { page } = await signedIn(browser, site)
  await page.goto(`${site.url}/#/runs/demo-1?point=0`)
  await page.locator('.regions .entry').first().waitFor()
  const box = await page.locator('.plot').boundingBox()
  if (!box) throw new Error('there is no plot')
  const heap: number[] = []
  await page.evaluate(COUNT_FRAMES)
  await page.mouse.move(box.x + 100, box.y + 80)
  await page.mouse.down()
  for (let n = 0; n <= SCRUB_STEPS; n++) {
    await page.mouse.move(box.x + 100 + (n / SCRUB_STEPS) * (box.width - 120), box.y + 80)
    if (n % 20 === 0) heap.push(await heapOf(page))
  }
  await page.mouse.up()
  const times = (await page.evaluate('window.frameTimes')) as number[]
  return { scrub_fps: rounded(slowest(times), 1), heap_mb: rounded(Math.max(...heap) / 1e6, 1) }
}

const COUNT_FRAMES = `
  window.frameTimes = []
  const count = (now) => { window.frameTimes.push(now); requestAnimationFrame(count) }
  requestAnimationFrame(count)
  undefined`

const heapOf = (page: Page) => page.evaluate('performance.memory.usedJSHeapSize') as Promise<number>

/** Frames a second in the stretch that has fewest. */
function slowest(times: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY
  const last = times.at(-1) ?? 0
  for (const from of times) {
    if (from + STRETCH_MS > last) break
    const frames = times.filter((time) => time >= from && time < from + STRETCH_MS).length
    least = Math.min(least, (frames * 1000) / STRETCH_MS)
  }
  return least
}
