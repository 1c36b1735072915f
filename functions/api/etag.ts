/**
 * Whether an If-None-Match names the tag: a list of tags, weak or strong (the comparison is weak, RFC 9110, 13.1.2),
 * or `*` for anything there is.
 *
 * @param etag with its quotes
 */
export function noneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false
  if (header.trim() === '*') return true
  const named = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return named.some((tag) => tag.replace(/^W\//, '') === etag.replace(/^W\//, ''))
}
