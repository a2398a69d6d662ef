import { DatabaseSync } from 'node:sqlite'
import type { Effect, Ledger } from './ledger.ts'
import { ledgerFile } from './places.ts'
import { bad, bold, chapter, counted, good, many, say } from './say.ts'
import { wasUnknown } from './watcher.ts'
import { type Acts, acts } from './workshop-client.ts'

const mostToldDifferences = 20

/** What happened, in numbers, and whether ledger and recipient agree. @returns true when they do */
export async function summarise(
  ledger: Ledger,
  workshop: string,
  answers: ReadonlyMap<string, number>,
): Promise<boolean> {
  const { receipts } = await ledger.status()
  const effects = await ledger.effects()
  const everyEffect = await ledger.allEffects()
  const quarantine = await ledger.quarantine()
  const done = await acts(workshop)
  const sent = [...answers.values()].reduce((sum, count) => sum + count, 0)
  const inAll =
    everyEffect.length === effects.length ? '' : ` in this run; ${everyEffect.length} in the ledger`

  chapter('What happened')
  line('deliveries', `${sent} sent: ${counted(answers)}`)
  line('receipts', `${receipts.total} in the ledger (${counted(Object.entries(receipts.byState))})`)
  line('duplicates', `${receipts.duplicates} counted: acknowledged, and nothing changed`)
  line('quarantine', `${quarantine.length}: ${counted(tally(quarantine, ({ reason }) => reason))}`)
  line('effects', `${effects.length}: ${counted(tally(effects, ({ state }) => state))}${inAll}`)
  line('the workshop', `acted ${done.total} times; most acts for one effect: ${mostFor(done)}`)
  line('its faults', faultsInWords(done))
  line('unknown', unknownInWords(effects))
  line('own table', `${many(paymentRows(), 'row')} in demo_payment, each committed together with its effect`)
  say()
  return verdict(differences(everyEffect, done))
}

function line(name: string, text: string): void {
  say(`  ${name.padEnd(14)}${text}`)
}

function faultsInWords({ answersLost, answersLate, answered500, droppedUndone }: Acts): string {
  return counted([
    ['answers lost', answersLost],
    ['answered too late', answersLate],
    ['answered 500 after acting', answered500],
    ['requests dropped undone', droppedUndone],
  ])
}

function unknownInWords(effects: readonly Effect[]): string {
  const unknown = effects.filter(wasUnknown)
  const reconciled = unknown.filter(({ state }) => state !== 'unknown' && state !== 'attempting')
  const byLookup = reconciled.filter(({ evidence }) =>
    evidence.some(({ kind, from, to }) => kind === 'lookup' && from === 'unknown' && to === 'confirmed'),
  )
  const byRepeat = reconciled.length - byLookup.length
  return `${many(unknown.length, 'effect')} → ${reconciled.length} reconciled: ${byLookup.length} by lookup, ${byRepeat} by a repeat under the same key`
}

/** Where ledger and recipient do not agree: the ledger says confirmed exactly where the recipient acted, and it acted once. */
export function differences(effects: readonly Effect[], done: Acts): string[] {
  const found: string[] = []
  for (const { key, state, idempotencyKey } of effects) {
    const acted = done.byKey[idempotencyKey] ?? 0
    const wanted = state === 'confirmed' ? 1 : 0
    if (acted !== wanted)
      found.push(`${key} is ${state}, and the recipient acted ${times(acted)} under its key`)
    const called = done.byReference[key] ?? 0
    if (called !== acted)
      found.push(`${key} was done ${times(called)} by name and ${times(acted)} by its key`)
    if (state === 'planned' || state === 'attempting' || state === 'unknown')
      found.push(`${key} is still ${state}`)
  }
  const keys = new Set<string>(effects.map(({ idempotencyKey }) => idempotencyKey))
  for (const key of Object.keys(done.byKey)) {
    if (!keys.has(key)) found.push(`the recipient acted under ${key}, of which the ledger knows nothing`)
  }
  return found
}

function verdict(found: readonly string[]): boolean {
  if (found.length === 0) {
    say(bold(good('  The recipient acted exactly as the ledger says.')))
    return true
  }
  say(bold(bad(`  The recipient did NOT act as the ledger says: ${many(found.length, 'difference')}.`)))
  for (const difference of found.slice(0, mostToldDifferences)) say(`  - ${difference}`)
  return false
}

function mostFor({ byReference, byKey }: Acts): number {
  return Math.max(0, ...Object.values(byReference), ...Object.values(byKey))
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function tally<Row>(rows: readonly Row[], nameOf: (row: Row) => string): (readonly [string, number])[] {
  return [...Map.groupBy(rows, nameOf)].map(([name, list]) => [name, list.length] as const)
}

function paymentRows(): number {
  const database = new DatabaseSync(ledgerFile, { readOnly: true })
  try {
    return Number(database.prepare('select count(*) as rows from demo_payment').get()?.rows ?? 0)
  } finally {
    database.close()
  }
}
