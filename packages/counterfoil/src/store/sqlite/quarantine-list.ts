import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { QuarantineId } from '../../domain/index.ts'
import type { QuarantineNote } from '../records.ts'
import { toQuarantine } from '../rows.ts'
import type { QuarantinePage, QuarantineQuery, QuarantineStory } from '../store.ts'
import { quarantineColumns } from './rows.ts'

type Row = Record<string, any>

/** Entries that one page looks at, at most: what it costs has a limit, whatever the filter leaves over. */
export const maxScanned = 5_000
/** Notes of one entry that are shown. */
const maxNotes = 100

/** What narrows the walk most comes first. Each has its index of what waits. */
const leads = {
  assignee: "state = 'waiting' and assignee is :assignee",
  type: "state = 'waiting' and type = :type",
  owner: "state = 'waiting' and owner = :owner",
  producer: "state = 'waiting' and producer = :producer",
  reason: "state = 'waiting' and reason = :reason",
  waiting: "state = 'waiting'",
  state: "state <> 'waiting' and state = :state",
  all: 'true',
} as const
type Lead = keyof typeof leads
type Direction = 'down' | 'up'

interface Walk {
  readonly page: StatementSync
  /** The last entry that a full scan looks at. */
  readonly last: StatementSync
}

/** Lists of quarantine entries: each walks one index from where the page before ended, for a bounded way. */
export class QuarantineList {
  readonly #walks = new Map<string, Walk>()
  readonly #seqOf
  readonly #entry
  readonly #ofReceipt
  readonly #notes

  constructor(db: DatabaseSync) {
    const columns = `select ${quarantineColumns} from`
    for (const lead of Object.keys(leads) as Lead[]) {
      for (const direction of ['down', 'up'] as const) {
        this.#walks.set(`${lead} ${direction}`, prepareWalk(db, lead, direction))
      }
    }
    this.#seqOf = db.prepare('select seq from counterfoil_quarantine where id = ?')
    this.#entry = db.prepare(`${columns} counterfoil_quarantine q where q.id = ?`)
    this.#ofReceipt = db.prepare(
      `${columns} counterfoil_quarantine q where q.receipt = (select seq from counterfoil_receipt where id = ?)`,
    )
    // counterfoil_quarantine_note_entry
    this.#notes = db.prepare(`
      select at, reason, detail, by from counterfoil_quarantine_note where entry = ? order by seq desc limit ${maxNotes}`)
  }

  list(query: QuarantineQuery): QuarantinePage {
    const { limit, before, after, through } = query
    const direction = after === undefined ? 'down' : 'up'
    const walk = this.#walks.get(`${leadOf(query)} ${direction}`)!
    const from = this.#from(direction, after ?? before)
    const bound = direction === 'up' ? { to: this.#bound(through) } : {}
    const lead = only(query, leadOf(query))
    const rows = walk.page.all({ ...residue(query), ...bound, from, limit, scan: maxScanned }) as Row[]
    const entries = rows.map(toQuarantine)
    if (entries.length === limit) return { entries, next: entries.at(-1)?.id ?? null }
    const last = walk.last.get({ ...lead, ...bound, from, skip: maxScanned - 1 }) as
      | { id: QuarantineId }
      | undefined
    return { entries, next: last?.id ?? null }
  }

  show(id: string): QuarantineStory | null {
    const row = this.#entry.get(id) as Row | undefined
    if (row === undefined) return null
    const notes = (this.#notes.all(row.seq) as Row[]).map(toNote).reverse()
    return { entry: toQuarantine(row), notes }
  }

  ofReceipt(receipt: string) {
    const row = this.#ofReceipt.get(receipt)
    return row === undefined ? null : toQuarantine(row)
  }

  /** A bound that is not there lets nothing through. */
  #bound(id: string | undefined): number {
    if (id === undefined) return Number.MAX_SAFE_INTEGER
    return (this.#seqOf.get(id) as { seq: number } | undefined)?.seq ?? 0
  }

  /** A place that is not there is before everything, or after it. */
  #from(direction: Direction, id: string | undefined): number {
    const row = id === undefined ? undefined : (this.#seqOf.get(id) as { seq: number } | undefined)
    return row?.seq ?? (direction === 'down' ? Number.MAX_SAFE_INTEGER : 0)
  }
}

function prepareWalk(db: DatabaseSync, lead: Lead, direction: Direction): Walk {
  const place = `${leads[lead]} and ${direction === 'down' ? 'seq < :from' : 'seq > :from and seq <= :to'}`
  const order = `order by seq ${direction === 'down' ? 'desc' : 'asc'}`
  return {
    page: db.prepare(`
      select ${quarantineColumns} from (select * from counterfoil_quarantine where ${place} ${order} limit :scan) q
      where (:state is null or q.state = :state) and (:producer is null or q.producer = :producer)
        and (:type is null or q.type = :type) and (:reason is null or q.reason = :reason)
        and (:owner is null or q.owner = :owner) and (:anyone or q.assignee is :assignee)
        and (:until is null or q.at <= :until) and (:event is null or instr(q.event_id, :event) > 0)
      ${order} limit :limit`),
    last: db.prepare(`select id from counterfoil_quarantine where ${place} ${order} limit 1 offset :skip`),
  }
}

function leadOf(query: QuarantineQuery): Lead {
  if (query.state !== 'waiting') return query.state === undefined ? 'all' : 'state'
  const narrowing = ['assignee', 'type', 'owner', 'producer', 'reason'] as const
  return narrowing.find((name) => query[name] !== undefined && query[name] !== null) ?? 'waiting'
}

function only(query: QuarantineQuery, lead: Lead): Record<string, string | null> {
  if (lead === 'waiting' || lead === 'all') return {}
  return { [lead]: query[lead] ?? null }
}

function residue({ state, producer, type, reason, owner, assignee, until, event }: QuarantineQuery) {
  return {
    state: state ?? null,
    producer: producer ?? null,
    type: type ?? null,
    reason: reason ?? null,
    owner: owner ?? null,
    anyone: assignee === undefined ? 1 : 0,
    assignee: assignee ?? null,
    until: until ?? null,
    event: event ?? null,
  }
}

function toNote(row: Row): QuarantineNote {
  return { at: row.at, reason: row.reason, detail: JSON.parse(row.detail), by: row.by }
}
