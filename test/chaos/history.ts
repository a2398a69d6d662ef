import { DatabaseSync } from 'node:sqlite'
import type { Store } from 'counterfoil'
import type { SimulatedHistory } from 'counterfoil/testing'
import { secrets } from '../../demo/secrets.ts'
import { type Fleet, operatorToken, vaultSecret } from './fleet.ts'
import type { Load } from './load.ts'
import { promises } from './shapes.ts'

type Row = Readonly<Record<string, any>>
type Entry = SimulatedHistory['entries'][number]
type Records = SimulatedHistory['records']

/** What the recipients know, read from their own database. */
export interface Referee {
  readonly arrivals: readonly Row[]
  readonly acts: readonly Row[]
  readonly questions: readonly Row[]
}

export function referee(file: string): Referee {
  const db = new DatabaseSync(file)
  try {
    const all = (table: string) => db.prepare(`select * from ${table} order by rowid`).all()
    return { arrivals: all('arrival'), acts: all('act'), questions: all('question') }
  } finally {
    db.close()
  }
}

/** All that was seen of a run from outside, and its records at the end, in the words of the checker. */
export async function historyOf(
  store: Store,
  fleet: Fleet,
  load: Load,
  seen: Referee,
  seed: number,
): Promise<SimulatedHistory> {
  const records = await recordsOf(store)
  const logged = fleet.members.flatMap((member, process) =>
    member
      .said()
      .split('\n')
      .map((message): Entry => ({ at: 0, kind: 'logged', process, level: '', message, fields: {} })),
  )
  const entries = [
    ...load.acknowledged,
    ...requestsOf(seen, records),
    ...actsOf(seen),
    ...questionsOf(seen),
    ...movesOf(records),
    ...logged,
  ].sort((one, other) => one.at - other.at)
  return {
    seed,
    deliveries: load.deliveries,
    entries,
    records,
    calmAt: 0,
    promises: new Map(Object.entries(promises)),
    secrets: [vaultSecret, operatorToken, ...secrets.github],
  }
}

async function recordsOf(store: Store): Promise<Records> {
  return {
    at: Date.now(),
    receipts: await all((page) => store.listReceipts(page)),
    effects: await all((page) => store.listEffects(page)),
    quarantine: (await store.listQuarantine({ limit: 9_999 })).entries,
    audit: await store.listAudit({ limit: 9_999 }),
    // The rows themselves are read by `Place.faults`.
    strayOutbox: 0,
    strayQuarantine: 0,
    rows: new Map(),
  }
}

const pageSize = 2_000

async function all<Item extends { readonly id: string }>(
  list: (page: { readonly limit: number; readonly before?: string }) => Promise<Item[]>,
): Promise<Item[]> {
  const items: Item[] = []
  for (;;) {
    const before = items.at(-1)?.id
    const page = await list({ limit: pageSize, ...(before === undefined ? {} : { before }) })
    items.push(...page)
    if (page.length < pageSize) return items
  }
}

/** What came in time: a recipient that bounds how late it acts refuses the rest, which is proof and no open question. */
function requestsOf({ arrivals }: Referee, { effects }: Records): Entry[] {
  const attempts = new Map(
    effects.map(({ recipient, key, attempts }) => [`${recipient} ${key}`, attempts.length]),
  )
  const counts = new Map<string, number>()
  return arrivals.flatMap(({ shape, name, body, version, at, too_late }): Entry[] => {
    const op = String(JSON.parse(body).reference)
    const nth = (counts.get(`${shape} ${op}`) ?? 0) + 1
    counts.set(`${shape} ${op}`, nth)
    if (too_late === 1) return []
    return [
      {
        ...{ at, kind: 'sent', recipient: shape, op, nth, body, process: 0 },
        key: shape === 'neither' ? null : name,
        version: version === null ? null : Number(version),
        durable: nth <= (attempts.get(`${shape} ${op}`) ?? 0),
      },
    ]
  })
}

function actsOf({ acts }: Referee): Entry[] {
  return acts.map(({ shape, name, body, domain, version, at }) => {
    const ordered = shape === 'guarded'
    const place = { domain: ordered ? domain : null, version: ordered ? version : null }
    return { at, kind: 'acted', recipient: shape, op: JSON.parse(body).reference, key: name, body, ...place }
  })
}

function questionsOf({ questions }: Referee): Entry[] {
  return questions.map(({ shape, name, kind, status, at }) => ({
    ...{ at, kind, recipient: shape, key: name, status, process: 0 },
  }))
}

/** By the evidence that the ledger keeps: what has left a final state is among it. */
function movesOf({ effects }: Records): Entry[] {
  return effects.flatMap(({ id, evidence }) =>
    evidence
      .filter(({ from, to }) => from !== to)
      .map(({ at, from, to }): Entry => ({ at, kind: 'moved', effect: id, from, to })),
  )
}
