import type { JSX } from 'preact'
import { count } from '../data/format.ts'
import type { SessionAbout, SessionProblem } from '../data/transcript.ts'
import { ShortText, Text } from '../parts/text.tsx'

/** What could not be read, and what was passed by: a harness that changes its format shows here first. */
export function SessionProblems({ about }: { readonly about: SessionAbout }): JSX.Element | null {
  const { problems = [], unknown_records = {}, tail } = about
  const unknown = Object.entries(unknown_records)
  if (problems.length === 0 && unknown.length === 0 && !tail) return null
  return (
    <details class="warn">
      <summary>
        {count(problems.length)} {problems.length === 1 ? 'problem' : 'problems'}
        {unknown.length > 0 &&
          `, ${count(unknown.length)} unknown ${unknown.length === 1 ? 'kind' : 'kinds'} of record`}
      </summary>
      <ul class="related">
        {problems.map((problem, n) => (
          <li key={n}>
            <ProblemLine problem={problem} />
          </li>
        ))}
        {unknown.map(([kind, times]) => (
          <li key={kind}>
            unknown record <Text text={kind || '(no type)'} />, {count(times)}{' '}
            {times === 1 ? 'time' : 'times'}
          </li>
        ))}
        {tail && (
          <li>
            {count(tail.bytes)} bytes at the end are no whole record yet, from {count(tail.offset)}
          </li>
        )}
      </ul>
    </details>
  )
}

const ProblemLine = ({
  problem: { code, path, line, offset, detail },
}: {
  readonly problem: SessionProblem
}) => (
  <>
    <code>{code}</code> <ShortText text={path} max={160} />
    {line !== undefined && `, line ${count(line)}`}
    {offset !== undefined && `, offset ${count(offset)}`}
    {detail !== undefined && (
      <>
        : <ShortText text={detail} max={200} />
      </>
    )}
  </>
)
