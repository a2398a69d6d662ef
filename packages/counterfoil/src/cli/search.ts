import { search } from '../operate/index.ts'
import { acting, operatorOption, viewerOf } from './acting.ts'
import { type Command, exit } from './command.ts'
import { printTable, stateStyle } from './print.ts'
import { oneName } from './reading.ts'

export const searchCommand: Command = {
  name: 'search',
  summary:
    'Whatever has this name: an id, an effect key, an idempotency key, an event id, a fingerprint, the recipient’s id',
  usage: 'counterfoil search NAME',
  example: 'counterfoil search ch_3NqLk2eZvKYlo2C1',
  options: operatorOption,
  run: acting(async (app, invocation) => {
    const { out } = invocation
    const { receipts, effects, quarantine } = await search(
      app,
      viewerOf(app, invocation),
      oneName(invocation, 'one thing to look for'),
    )
    out.json({ receipts, effects, quarantine })
    const rows = [
      ...receipts.map((one) => [
        'receipt',
        one.id,
        one.state,
        `${one.producer} ${one.type} ${one.eventId}`,
        one.by,
      ]),
      ...effects.map((one) => ['effect', one.id, one.state, `${one.recipient} ${one.key}`, one.by]),
      ...quarantine.map((one) => ['quarantine', one.id, one.state, `${one.reason} ${one.producer}`, 'id']),
    ]
    if (rows.length === 0) out.line('Nothing has that name.')
    else printTable(out, 'WHAT ID STATE ABOUT BY'.split(' '), rows, ([, , state]) => stateStyle(state))
    return rows.length === 0 ? exit.problem : exit.done
  }),
}
