import type { ReceiptView } from '../../../packages/counterfoil/src/store/index.ts'
import { RowLink, Rows } from './rows.tsx'
import { State } from './state.tsx'
import { When } from './when.tsx'

interface Props {
  readonly caption: string
  readonly receipts: readonly ReceiptView[]
  readonly empty: string
}

export function ReceiptRows({ caption, receipts, empty }: Props) {
  return (
    <Rows
      caption={caption}
      rows={receipts}
      idOf={({ id }) => id}
      columns={[
        {
          name: 'Event',
          isWide: true,
          cell: ({ id, type, eventId }) => (
            <RowLink href={`/console/receipts/${id}`}>
              <b>{type}</b> <code>{eventId}</code>
            </RowLink>
          ),
        },
        { name: 'State', cell: ({ state }) => <State of={state} /> },
        { name: 'Producer', cell: ({ producer }) => producer },
        { name: 'Origin', cell: ({ origin }) => origin },
        { name: 'Copies', isNumber: true, cell: ({ duplicates }) => (duplicates === 0 ? '' : duplicates) },
        { name: 'Came', cell: ({ receivedAt }) => <When at={receivedAt} /> },
      ]}
      empty={empty}
    />
  )
}
