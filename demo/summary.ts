import type { Counterfoil } from 'counterfoil'
import type { Driver } from './driver.ts'
import { bold, say, step } from './say.ts'

interface Acts {
  readonly total: number
  readonly byKey: Readonly<Record<string, number>>
}

/** Holds the ledger against the recipient's own count. @returns true when they tell the same story */
export async function summarise(app: Counterfoil, driver: Driver, recipientUrl: string): Promise<boolean> {
  const { receipts, effects, quarantine } = await app.store.status()
  const acts = (await (await fetch(`${recipientUrl}/acts`)).json()) as Acts
  const differences = await compare(app, acts)
  const entries = await app.store.listQuarantine({ limit: 500 })
  const reasons = Map.groupBy(entries, (entry) => entry.reason)
  const counted = (counts: Iterable<readonly [string, number]>) =>
    [...counts]
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')

  step('What happened')
  say(
    `  deliveries now     ${[...driver.answers.values()].reduce((sum, count) => sum + count, 0)}: ${counted(driver.answers)}`,
  )
  say(`  receipts           ${receipts.total}, and ${receipts.duplicates} duplicates counted`)
  say(
    `  quarantine         ${quarantine}: ${counted([...reasons].map(([reason, list]) => [reason, list.length] as const))}`,
  )
  say(`  effects            ${effects.total}: ${counted(Object.entries(effects.byState))}`)
  say(
    `  the recipient      acted ${acts.total} times for ${Object.keys(acts.byKey).length} keys; at most ${Math.max(0, ...Object.values(acts.byKey))} for one key`,
  )
  say(`  unknown            ${driver.seenUnknown.size} were seen unknown now, and all are reconciled`)
  say()
  if (differences.length === 0) say(bold('  The recipient acted exactly as the ledger says.'))
  for (const difference of differences) say(`  DIFFERENT: ${difference}`)
  return differences.length === 0
}

async function compare(app: Counterfoil, { byKey }: Acts): Promise<string[]> {
  const differences: string[] = []
  const known = new Set<string>()
  for (let before: string | undefined; ; ) {
    const page = await app.store.listEffects({ limit: 500, ...(before === undefined ? {} : { before }) })
    for (const { key, idempotencyKey, state } of page) {
      known.add(idempotencyKey)
      const acted = byKey[idempotencyKey] ?? 0
      if (acted !== (state === 'confirmed' ? 1 : 0))
        differences.push(`${key} is ${state} and acted ${acted} times`)
    }
    before = page.at(-1)?.id
    if (before === undefined) break
  }
  for (const key of Object.keys(byKey))
    if (!known.has(key)) differences.push(`the recipient acted for ${key}, which is in no ledger`)
  return differences
}
