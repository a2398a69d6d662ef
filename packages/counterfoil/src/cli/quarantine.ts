import { CounterfoilError } from '../domain/index.ts'
import { type Command, exit } from './command.ts'
import { table, time } from './print.ts'
import { oneName, pageOf, pageOptions, reading } from './reading.ts'

export const quarantineList: Command = {
  name: 'quarantine list',
  summary: 'What is authentic but cannot start work, newest first',
  usage: 'counterfoil quarantine list [--limit N] [--before ID]',
  example: 'counterfoil quarantine list --json',
  options: pageOptions,
  run: reading(async (store, { options, out }) => {
    const quarantine = await store.listQuarantine(pageOf(options))
    out.json({ quarantine })
    const rows = quarantine.map((q) => [
      q.id,
      time(q.at),
      q.reason,
      q.owner,
      q.producer,
      q.type,
      q.receipt,
      q.vault,
    ])
    for (const line of table([
      ['ENTRY', 'SINCE', 'REASON', 'OWNER', 'PRODUCER', 'TYPE', 'RECEIPT', 'VAULT'],
      ...rows,
    ]))
      out.line(line)
    return exit.done
  }),
}

export const quarantineShow: Command = {
  name: 'quarantine show',
  summary: 'One quarantine entry with its reason in full',
  usage: 'counterfoil quarantine show ENTRY',
  example: 'counterfoil quarantine show qua_01KBDZ3V6Q0000000000000000',
  run: reading(async (store, invocation) => {
    const id = oneName(invocation, 'a quarantine entry')
    const entry = await store.showQuarantine(id)
    if (entry === null) {
      throw new CounterfoilError('not_found', `There is no quarantine entry '${id}'.`, {
        hint: 'List them: counterfoil quarantine list',
      })
    }
    const { out } = invocation
    out.json({ quarantine: entry })
    out.line(`${entry.id}  ${entry.reason}, owner ${entry.owner}, since ${time(entry.at)}`)
    out.line(`  receipt ${entry.receipt}: ${entry.type} of ${entry.producer}`)
    out.line(`  payload ${entry.vault}, sealed`)
    for (const [name, value] of Object.entries(entry.detail)) {
      out.line(`  ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    }
    return exit.done
  }),
}
