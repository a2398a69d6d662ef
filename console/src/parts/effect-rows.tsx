import type { EffectView } from '../../../packages/counterfoil/src/store/index.ts'
import { RowLink, Rows } from './rows.tsx'
import { State } from './state.tsx'
import { When } from './when.tsx'

interface Props {
  readonly caption: string
  readonly effects: readonly EffectView[]
  readonly empty: string
}

export function EffectRows({ caption, effects, empty }: Props) {
  return (
    <Rows
      caption={caption}
      rows={effects}
      idOf={({ id }) => id}
      columns={[
        {
          name: 'Effect',
          isWide: true,
          cell: ({ id, key }) => (
            <RowLink href={`/console/effects/${id}`}>
              <b>{key}</b>
            </RowLink>
          ),
        },
        { name: 'State', cell: ({ state, disputed }) => <State of={disputed ? 'disputed' : state} /> },
        { name: 'Recipient', cell: ({ recipient }) => recipient },
        { name: 'What', cell: ({ name }) => name },
        { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
        { name: 'Planned', cell: ({ plannedAt }) => <When at={plannedAt} /> },
        { name: 'Changed', cell: ({ changedAt }) => <When at={changedAt} /> },
      ]}
      empty={empty}
    />
  )
}
