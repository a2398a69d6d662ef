import { type Command, exit } from './command.ts'
import { table, time } from './print.ts'
import { reading } from './reading.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: 'Bring the store to the schema of this version',
  usage: 'counterfoil migrate',
  example: 'counterfoil migrate --config counterfoil.config.ts',
  async run({ app, out }) {
    const { store } = await app()
    const report = await store.open({ migrate: true })
    await store.close()
    out.json({ store: store.location, ...report })
    for (const name of report.applied) out.line(`applied ${name}`)
    out.line(
      report.applied.length === 0
        ? `${store.location} is at schema ${report.to} already.`
        : `${store.location} is now at schema ${report.to}.`,
    )
    return exit.done
  },
}

export const status: Command = {
  name: 'status',
  summary: 'What the store holds and what waits',
  usage: 'counterfoil status',
  example: 'counterfoil status --json',
  run: reading(async (store, { out }) => {
    const status = await store.status()
    out.json({ store: store.location, ...status })
    const states = (counts: Readonly<Record<string, number>>) =>
      Object.entries(counts)
        .filter(([, count]) => count > 0)
        .map(([state, count]) => `${count} ${state}`)
        .join(', ') || 'none'
    const { receipts, outbox, quarantine, effects } = status
    const rows = [
      ['store', `${store.location}, schema ${status.schema}`],
      [
        'receipts',
        `${receipts.total} (${states(receipts.byState)}), ${receipts.duplicates} duplicates counted`,
      ],
      [
        'outbox',
        outbox.waiting === 0
          ? 'nothing waits'
          : `${outbox.waiting} waiting, the oldest since ${time(outbox.oldestAt)}`,
      ],
      ['quarantine', String(quarantine)],
      ['effects', `${effects.total} (${states(effects.byState)})`],
      [
        'for a person',
        `${effects.escalated} unknown beyond what the engine may do, ${effects.disputed} disputed`,
      ],
    ]
    for (const line of table(rows)) out.line(line)
    return exit.done
  }),
}
