import type { Issue } from './issues.ts'
import { badRequest } from './issues.ts'

/**
 * The parameters of a query string by name. A parameter given twice, or with a broken escape, is refused rather than
 * guessed at. The object has no prototype, so that `__proto__` is a name like any other.
 */
export function readQuery(search: string): Record<string, string> {
  const found: Record<string, string> = Object.create(null)
  const issues: Issue[] = []
  for (const pair of search.replace(/^\?/, '').split('&')) {
    if (pair === '') continue
    const cut = pair.indexOf('=')
    const name = decoded(cut < 0 ? pair : pair.slice(0, cut))
    const value = decoded(cut < 0 ? '' : pair.slice(cut + 1))
    if (name === undefined) issues.push({ path: '', message: 'the query has a broken escape' })
    else if (value === undefined) issues.push({ path: name, message: 'has a broken escape' })
    else if (Object.hasOwn(found, name)) issues.push({ path: name, message: 'is given twice' })
    else found[name] = value
  }
  if (issues.length > 0) throw badRequest(issues)
  return found
}

/** As browsers write forms: `+` is a blank. Undefined where an escape is broken or not UTF-8. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
