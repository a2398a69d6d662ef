import { DatabaseSync } from 'node:sqlite'
import { type History, violations } from 'counterfoil/testing'
import { secrets } from '../../demo/secrets.ts'
import { type Fleet, operatorToken, vaultSecret } from './fleet.ts'
import type { Load } from './load.ts'
import type { Place } from './places.ts'

export interface Verdict {
  /** One sentence each; none when all holds. */
  readonly violations: readonly string[]
  readonly acknowledged: number
  readonly sent: number
  readonly acts: number
}

type Row = Readonly<Record<string, any>>

/** Holds the records of a quiet system against all that was acknowledged, sent and done, as the recipients know it. */
export async function verdict(place: Place, fleet: Fleet, load: Load): Promise<Verdict> {
  const { sent, acts } = referee(fleet.recipientFile)
  const history: History = {
    acknowledged: [...load.acknowledged] as never,
    sent: sent.map(({ name, body }) => ({ effect: name, body })),
    acts: acts.map(({ name }) => ({ effect: name })),
    evidenceExists: ({ recipient }) => recipient !== 'neither',
  }
  const store = await place.open()
  try {
    const effects = await store.listEffects({ limit: 9_999 })
    const byKey = new Map(effects.map((effect) => [effect.key as string, effect]))
    const missing = [...load.orders.values()].filter(
      ({ reference, shape }) => byKey.get(reference)?.recipient !== shape,
    )
    const plans = await place.plans()
    return {
      acknowledged: load.acknowledged.size,
      sent: sent.length,
      acts: acts.length,
      violations: [
        ...load.wrong,
        ...(await violations(store, history)),
        ...(await place.faults()),
        ...missing.map(
          ({ reference }) => `I3: ${reference} was ordered and acknowledged, and there is no effect`,
        ),
        ...(byKey.size === load.orders.size
          ? []
          : [`I6: ${byKey.size} effects for ${load.orders.size} orders`]),
        ...(plans === load.plans
          ? []
          : [`I3: ${load.plans} plans write a row of the program, and there are ${plans}`]),
        ...forgeries(sent),
        ...backwards(acts),
        ...secretsIn(fleet),
      ],
    }
  } finally {
    await store.close()
  }
}

function referee(file: string): { sent: Row[]; acts: Row[] } {
  const db = new DatabaseSync(file)
  try {
    return {
      sent: db.prepare('select name, body from arrival order by rowid').all(),
      acts: db.prepare('select shape, name, domain, version from act order by rowid').all(),
    }
  } finally {
    db.close()
  }
}

function forgeries(sent: readonly Row[]): string[] {
  const forged = sent.filter(({ body }) => JSON.parse(body).forged === true)
  return forged.map(({ name }) => `I17: the content of another delivery under a known id left as ${name}`)
}

function backwards(acts: readonly Row[]): string[] {
  const found: string[] = []
  const last = new Map<string, number>()
  for (const { domain, version } of acts.filter(({ shape }) => shape === 'guarded')) {
    const before = last.get(domain) ?? 0
    if (version <= before) found.push(`I14: ${domain} went from version ${before} to ${version}`)
    last.set(domain, version)
  }
  return found
}

function secretsIn(fleet: Fleet): string[] {
  const all = [vaultSecret, operatorToken, ...secrets.github]
  return fleet.members
    .filter((member) => all.some((secret) => member.said().includes(secret)))
    .map(({ name }) => `I21: a secret is in the log of ${name}`)
}
