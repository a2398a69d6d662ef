import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly name: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers stand under each other. */
  readonly isNumber?: boolean
  /** Takes what room is left, and is cut where there is none. */
  readonly isWide?: boolean
}

interface Props<Row> {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  readonly empty: ComponentChildren
}

/** A table that becomes a list of cards where it is narrow. `j` and `k` go through the links of its first column. */
export function Rows<Row>({ caption, rows, columns, idOf, empty }: Props<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    <div class="rows-frame">
      <table class="rows">
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={isNumber ? 'is-number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {columns.map(({ name, cell, isNumber, isWide }) => (
                <td
                  key={name}
                  data-name={name}
                  class={[isNumber && 'is-number', isWide && 'is-wide'].filter(Boolean).join(' ')}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The link that stands for a row. */
export function RowLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <a class="row-link" href={href} data-row>
      {children}
    </a>
  )
}
