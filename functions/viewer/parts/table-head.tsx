import type { JSX } from 'preact'

/** A column's title, and the class its cells have: `number` stands right, `wide` is left out on narrow screens. */
type Column = readonly [title: string, cells?: 'number' | 'wide' | 'number wide']

/** The head of a table, a title for each column. */
export const TableHead = ({ columns }: { readonly columns: readonly Column[] }): JSX.Element => (
  <thead>
    <tr>
      {columns.map(([title, cells], n) => (
        <th key={n} scope="col" class={cells}>
          {title}
        </th>
      ))}
    </tr>
  </thead>
)
