import { RUN_ID_RULE, RunfoldError, runId } from '#schema'

/**
 * Judges the path of a request as it came on the wire. A URL parser would tidy `..`, `%2e` and `//` away and lead the
 * request to another route than its sender named, so this must see the target before anything parses it.
 *
 * @throws bad_request for an illegal run_id or a broken escape, not_found for a path no route can have
 */
export function judgeTarget(target: string): void {
  const path = pathOf(target)
  if (path === '/') return
  const segments = path.slice(1).split('/').map(decoded)
  const [version, noun, run] = segments
  if (version === 'v1' && noun === 'runs' && segments.length > 2 && !runId.safeParse(run).success) {
    throw badPath('run_id', `a run_id is ${RUN_ID_RULE}`)
  }
  for (const segment of segments) {
    if (segment === undefined) throw badPath('path', 'the path has a broken escape')
    if (segment === '' || segment === '.' || segment === '..' || /[/\\]/.test(segment)) {
      throw new RunfoldError('not_found', 'no route has this path')
    }
  }
}

/** Origin form, or the path within absolute form (RFC 9112, 3.2). */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  if (!path.startsWith('/')) throw badPath('path', 'the request target is no path')
  return path
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

const badPath = (path: string, message: string) =>
  new RunfoldError('bad_request', message, { issues: [{ path, message }] })
