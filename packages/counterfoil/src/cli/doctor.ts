import { type Command, exit } from './command.ts'
import { table } from './print.ts'
import { reading } from './reading.ts'

const styles = { good: 'good', warning: 'warning', problem: 'bad' } as const

export const doctor: Command = {
  name: 'doctor',
  summary: 'Look at the health of what the records are kept in',
  usage: 'counterfoil doctor',
  example: 'counterfoil doctor --json',
  run: reading(async (store, { out }) => {
    const findings = (await store.examine?.()) ?? []
    out.json({ store: store.location, findings })
    if (findings.length === 0) out.line(`There is nothing to examine in a store of the kind ${store.kind}.`)
    const rows = findings.map(({ level, check, says }) => [level, check, says])
    for (const [index, line] of table(rows).entries()) out.line(line, styles[findings[index]!.level])
    for (const { hint, check } of findings) if (hint !== null) out.line(`${check}: ${hint}`)
    return findings.some(({ level }) => level === 'problem') ? exit.problem : exit.done
  }),
}
