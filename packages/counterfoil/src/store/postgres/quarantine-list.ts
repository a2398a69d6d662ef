import type { QuarantineNote, QuarantineView } from '../records.ts'
import { toQuarantine } from '../rows.ts'
import type { QuarantinePage, QuarantineQuery, QuarantineStory } from '../store.ts'
import type { Row, Run } from './connection.ts'
import { quarantineColumns } from './rows.ts'
import { quoted, type Statement } from './statement.ts'

/** Entries that one page looks at, at most: what it costs has a limit, whatever the filter leaves over. */
const maxScanned = 5_000
/** Notes of one entry that are shown. */
const maxNotes = 100

/** What narrows the walk most comes first. Each has its index of what waits. */
const leads = {
  assignee: (name: string) => `q.state = 'waiting' and q.assignee = ${name}`,
  type: (name: string) => `q.state = 'waiting' and q.type = ${name}`,
  owner: (name: string) => `q.state = 'waiting' and q.owner = ${name}`,
  producer: (name: string) => `q.state = 'waiting' and q.producer = ${name}`,
  reason: (name: string) => `q.state = 'waiting' and q.reason = ${name}`,
  state: (name: string) => `q.state <> 'waiting' and q.state = ${name}`,
  waiting: () => `q.state = 'waiting'`,
  all: () => 'true',
} as const
type Lead = keyof typeof leads
type Direction = 'down' | 'up'

interface Walk {
  readonly page: Statement
  /** The last entry that a full scan looks at. */
  readonly last: Statement
}

/** Lists of quarantine entries: each walks one index from where the page before ended, for a bounded way. */
export class QuarantineList {
  readonly #run: Run
  readonly #statements

  constructor(schema: string, run: Run) {
    this.#run = run
    this.#statements = quarantineStatements(schema)
  }

  async list(query: QuarantineQuery): Promise<QuarantinePage> {
    const { limit, before, after, through } = query
    const direction = after === undefined ? 'down' : 'up'
    const lead = leadOf(query)
    const walk = this.#statements.walks[lead][direction]
    const bounds = [(after ?? before) || null, ...(direction === 'up' ? [through ?? null] : [])]
    const rows = await this.#run(walk.page, [...bounds, limit, ...filters(query)])
    const entries = rows.map(toQuarantine)
    if (entries.length === limit) return { entries, next: entries.at(-1)?.id ?? null }
    const only = lead === 'waiting' || lead === 'all' ? [] : [query[lead] ?? null]
    const [last] = await this.#run(walk.last, [...bounds, ...only])
    return { entries, next: last?.id ?? null }
  }

  async show(id: string): Promise<QuarantineStory | null> {
    const { entry, notes } = this.#statements
    const [[row], noted] = await Promise.all([this.#run(entry, [id]), this.#run(notes, [id])])
    return row === undefined ? null : { entry: toQuarantine(row), notes: noted.map(toNote).reverse() }
  }

  async ofReceipt(receipt: string): Promise<QuarantineView | null> {
    const [row] = await this.#run(this.#statements.ofReceipt, [receipt])
    return row === undefined ? null : toQuarantine(row)
  }
}

export function quarantineStatements(schema: string) {
  const s = quoted(schema)
  const reads = (name: string, text: string): Statement => ({
    name: `counterfoil_quarantine_${name}`,
    writes: false,
    text,
  })
  const entry = `select ${quarantineColumns(s)} from ${s}.quarantine q`
  const walk = (lead: Lead, direction: Direction): Walk => {
    const down = direction === 'down'
    const order = `order by q.seq ${down ? 'desc' : 'asc'}`
    const seqOf = (id: string) => `(select seq from ${s}.quarantine where id = ${id}::text)`
    // A place that is not there is before everything, or after it; a bound that is not there lets nothing through.
    const place = down
      ? `q.seq < coalesce(${seqOf('$1')}, ${newest})`
      : `q.seq > coalesce(${seqOf('$1')}, 0) and q.seq <= case when $2::text is null then ${newest} else coalesce(${seqOf('$2')}, 0) end`
    const first = down ? 2 : 3
    const at = (offset: number) => `$${first + offset}`
    const named = Object.fromEntries(narrowing.map((name, i) => [name, `${at(i + 1)}::text`]))
    return {
      page: reads(
        `${lead}_${direction}`,
        `select ${quarantineColumns(s)} from (
           select * from ${s}.quarantine q where ${leads[lead](named[lead]!)} and ${place} ${order} limit ${maxScanned}) q
         where ${narrowing.map((name) => `(${named[name]} is null or q.${name} = ${named[name]})`).join(' and ')}
           and (not ${at(7)}::boolean or q.assignee is null) and (${at(8)}::bigint is null or q.at <= ${at(8)})
           and (${at(9)}::text is null or strpos(q.event_id, ${at(9)}) > 0)
         ${order} limit ${at(0)}::int`,
      ),
      last: reads(
        `${lead}_${direction}_last`,
        `select q.id from ${s}.quarantine q where ${leads[lead](`${at(0)}::text`)} and ${place} ${order}
         limit 1 offset ${maxScanned - 1}`,
      ),
    }
  }
  const walks = Object.fromEntries(
    (Object.keys(leads) as Lead[]).map((lead) => [lead, { down: walk(lead, 'down'), up: walk(lead, 'up') }]),
  ) as Record<Lead, Record<Direction, Walk>>
  return {
    walks,
    entry: reads('entry', `${entry} where q.id = $1::text`),
    ofReceipt: reads(
      'of_receipt',
      `${entry} where q.receipt = (select seq from ${s}.receipt where id = $1::text)`,
    ),
    // quarantine_note_entry
    notes: reads(
      'notes',
      `select at::float8, reason, detail, by from ${s}.quarantine_note
       where entry = (select seq from ${s}.quarantine where id = $1::text) order by seq desc limit ${maxNotes}`,
    ),
  }
}

const newest = '9223372036854775807'
/** Filters by equality, in the order of their parameters. */
const narrowing = ['assignee', 'type', 'owner', 'producer', 'reason', 'state'] as const

function leadOf(query: QuarantineQuery): Lead {
  if (query.state !== 'waiting') return query.state === undefined ? 'all' : 'state'
  const narrow = narrowing.find(
    (name) => name !== 'state' && query[name] !== undefined && query[name] !== null,
  )
  return narrow ?? 'waiting'
}

function filters(query: QuarantineQuery) {
  const { assignee, until, event } = query
  return [
    ...narrowing.map((name) => query[name] ?? null),
    String(assignee === null),
    until ?? null,
    event ?? null,
  ]
}

function toNote({ at, reason, detail, by }: Row): QuarantineNote {
  return { at, reason, detail: JSON.parse(detail), by }
}
