import { RunfoldError } from '#schema'

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]']
/** Bound to every address, a server cannot know by which one it is called. */
const WILDCARDS = ['0.0.0.0', '::', '[::]']
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/

export const isLoopbackName = (host: string) => LOOPBACK.includes(host) || host === '::1'

/**
 * Refuses requests that name a host this server is not. A page in a browser can point a name of its own at 127.0.0.1 (DNS
 * rebinding), but not without sending that name. Any port is fine: tunnels change it.
 *
 * @param names other names of this machine, asked for with a wildcard address only
 */
export function createHostCheck(
  host: string,
  names: readonly string[] = [],
): (header: string | null) => void {
  const wildcard = WILDCARDS.includes(host)
  const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const allowed = new Set(
    [...LOOPBACK, bracketed, ...(wildcard ? names : [])].map((name) => name.toLowerCase()),
  )
  return (header) => {
    const name = (header ?? '').toLowerCase().replace(/:\d*$/, '')
    if (allowed.has(name) || (wildcard && ADDRESS.test(name))) return
    throw new RunfoldError('forbidden', 'the Host header names another host than this server')
  }
}
