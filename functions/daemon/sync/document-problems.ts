/** One of the first hundred a document names (SESSIONS.md 2). */
export interface DocumentProblem {
  readonly code: string
  readonly path: string
  /** From 1. */
  readonly line?: number
}

/** In the canonical form only a field of the session itself stands so. */
const BEGIN = Buffer.from('\n  "problems": [')
const END = Buffer.from('\n  ]')
/** A hundred problems of the longest paths are far less. */
const MOST_BYTES = 1 << 20

/** The problems of a canonical document, without holding the document. */
export async function problemsIn(chunks: AsyncIterable<Uint8Array>): Promise<readonly DocumentProblem[]> {
  let kept = Buffer.alloc(0)
  let isWithin = false
  for await (const chunk of chunks) {
    kept = Buffer.concat([kept, chunk])
    if (!isWithin) {
      const at = kept.indexOf(BEGIN)
      isWithin = at >= 0
      kept = isWithin ? kept.subarray(at + BEGIN.length - 1) : kept.subarray(-BEGIN.length)
    }
    const end = isWithin ? kept.indexOf(END) : -1
    if (end >= 0) return JSON.parse(kept.toString('utf8', 0, end + END.length)) as DocumentProblem[]
    if (kept.length > MOST_BYTES + chunk.length) break
  }
  return []
}

const BAD_LINES: ReadonlySet<string> = new Set(['bad_json', 'not_an_object'])
const NAMED_LINES = 3

/** Such as `1 bad line at 22`, or `3 bad lines at 22, 40, 41; missing_file at 7`. */
export function sayProblems(problems: readonly DocumentProblem[], count: number): string {
  const bad = problems.filter(({ code }) => BAD_LINES.has(code))
  const others = problems.filter(({ code }) => !BAD_LINES.has(code))
  const lines = bad.slice(0, NAMED_LINES).map(({ line }) => line)
  const parts =
    bad.length > 0 ? [`${bad.length} bad line${bad.length === 1 ? '' : 's'} at ${lines.join(', ')}`] : []
  for (const { code, line, path } of others.slice(0, NAMED_LINES))
    parts.push(`${code} ${line === undefined ? `of ${path}` : `at ${line}`}`)
  const untold = count - bad.length - Math.min(others.length, NAMED_LINES)
  if (untold > 0)
    parts.push(parts.length > 0 ? `${untold} more` : `${untold} problem${untold === 1 ? '' : 's'}`)
  return parts.join('; ')
}
