import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { HARNESSES } from '#schema'
import { bytes, count } from '../data/format.ts'
import { Loading, Problem } from '../parts/problem.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { ShortText } from '../parts/text.tsx'
import { Time } from '../parts/time.tsx'
import { useLoad } from '../parts/use-load.ts'
import type { SessionRoute } from './session.tsx'

/** The raw files the transcript was made from, every generation of them. */
export function SessionFiles({ route }: { readonly route: SessionRoute }): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const { id, query } = route
  const harness = HARNESSES.find((one) => one === route.harness)
  const { value, error, isLoading, again } = useLoad(
    isOpen && harness ? JSON.stringify([harness, id, query.machine]) : undefined,
    (client) =>
      client.sessionFiles({ harness: harness as (typeof HARNESSES)[number], id, machine: query.machine }),
  )
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Raw files</summary>
      {error !== undefined && <Problem error={error} again={again} />}
      {isLoading && !value && <Loading />}
      {value && (
        <table>
          <TableHead
            columns={[['Path'], ['Generation', 'number'], ['Size', 'number'], ['Changed', 'number wide']]}
          />
          <tbody>
            {value.items.map(({ path, generation, tail, last_at, current }) => (
              <tr key={`${path} ${generation}`}>
                <th scope="row">
                  <ShortText text={path} max={200} />
                </th>
                <td class="number">
                  {count(generation)}
                  {!current && ' (older)'}
                </td>
                <td class="number">{bytes(tail)}</td>
                <td class="number wide">
                  <Time at={last_at} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  )
}
