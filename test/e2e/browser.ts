import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

/** Debian's, Ubuntu's and Alpine's; `CHROMIUM` names another. */
const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].filter(Boolean)

/** The browser of this machine; undefined where there is none. */
export const chromiumPath = PLACES.find((place) => existsSync(place as string))

/** What a browser does by itself is of no use here, and takes time. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launch(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath as string,
    headless: true,
    args: [...FLAGS, ...flags],
  })
}

/** The policy's refusals are no console messages everywhere. */
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('refused by policy:', event.violatedDirective, event.blockedURI))`

/** A page, and everything that went wrong in it: errors, refused resources, and requests to anywhere but its server. */
export async function openPage(browser: Browser, origin: string): Promise<{ page: Page; wrong: string[] }> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', hasTouch: true })
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(message.text())
  })
  page.on('pageerror', (error) => wrong.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) wrong.push(`asked for ${url}`)
  })
  await page.addInitScript({ content: TELL_VIOLATIONS })
  return { page, wrong }
}
