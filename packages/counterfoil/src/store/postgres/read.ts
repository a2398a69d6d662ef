import {
  type EffectId,
  type EffectState,
  effectStates,
  isFinalState,
  type ReceiptId,
} from '../../domain/index.ts'
import type { CauseView, EffectView, ReceiptView, Sealed } from '../records.ts'
import { toReceipt } from '../rows.ts'
import type {
  EffectQuery,
  EffectStory,
  ReceiptQuery,
  ReceiptStory,
  SqlValue,
  Store,
  StoreStatus,
} from '../store.ts'
import { texts } from './columns.ts'
import type { Row, Run } from './connection.ts'
import type { QuarantineList } from './quarantine-list.ts'
import { effectColumns, historyColumns, receiptColumns, stateColumns, toEffect, toSealed } from './rows.ts'
import { quoted, type Statement } from './statement.ts'
import { nowSql, type Timekeeper } from './time.ts'

/** What may be asked of the store. Lists walk an index downward; totals of what grows are kept, not counted. */
export class Reading {
  readonly #run: Run
  readonly #time: Timekeeper
  readonly #quarantine: QuarantineList
  readonly #statements

  constructor(schema: string, time: Timekeeper, quarantine: QuarantineList, run: Run) {
    this.#run = run
    this.#time = time
    this.#quarantine = quarantine
    this.#statements = readingStatements(schema)
  }

  async listReceipts({ limit, before, producer, state, within }: ReceiptQuery): Promise<ReceiptView[]> {
    const { receipts, receiptsIn } = this.#statements
    const parameters = [before ?? null, producer ?? null, limit, within ?? null]
    const rows = await this.#run(state === undefined ? receipts : receiptsIn[state], parameters)
    return rows.map(toReceipt)
  }

  async endOfWalk({
    before,
    within,
  }: {
    readonly before?: string
    readonly within: number
  }): Promise<ReceiptId | null> {
    const [row] = await this.#run(this.#statements.endOfWalk, [before ?? null, within])
    return row?.id ?? null
  }

  async showReceipt(id: string): Promise<ReceiptStory | null> {
    const [[receipt], quarantine, effects] = await Promise.all([
      this.#run(this.#statements.receipt, [id]),
      this.#quarantine.ofReceipt(id),
      this.#run(this.#statements.effectsOf, [id]),
    ])
    if (receipt === undefined) return null
    return {
      receipt: toReceipt(receipt),
      quarantine,
      effects: effects as unknown as ReceiptStory['effects'],
    }
  }

  async listEffects({ limit, before, recipient, state, within }: EffectQuery): Promise<EffectView[]> {
    const { effects, effectsAt, effectsOpen, effectsEnded, effectsEndedAt } = this.#statements
    const { confirmed, confirmedAt } = this.#statements
    const isOfOne = recipient !== undefined
    const page = [before ?? null, recipient ?? null, limit]
    if (state === undefined) return await this.#views(isOfOne ? effectsAt : effects, page)
    if (state === 'confirmed')
      return await this.#views(isOfOne ? confirmedAt : confirmed, [...page, within ?? null])
    if (!isFinalState(state)) return await this.#views(effectsOpen, [...page, state])
    return await this.#views(isOfOne ? effectsEndedAt : effectsEnded, [...page, state])
  }

  async endOfEffects({
    before,
    recipient,
    within,
  }: Parameters<Store['endOfEffects']>[0]): Promise<EffectId | null> {
    const { endOfConfirmed, endOfConfirmedAt } = this.#statements
    const end = recipient === undefined ? endOfConfirmed : endOfConfirmedAt
    const [row] = await this.#run(end, [before ?? null, recipient ?? null, within])
    return row?.id ?? null
  }

  async showEffects(name: string): Promise<EffectStory[]> {
    const effects = await this.#views(this.#statements.effectsNamed, [name])
    if (effects.length === 0) return []
    const causes = await this.#run(this.#statements.causes, [texts(effects.map(({ id }) => id))])
    return effects.map((effect) => ({
      effect,
      causes: causes.filter((row) => row.effect === effect.id).map(toCause),
    }))
  }

  /** By id, as they are now. */
  async effects(ids: readonly string[]): Promise<Map<string, EffectView>> {
    const views = await this.#views(this.#statements.effectsById, [texts(ids)])
    return new Map(views.map((view) => [view.id, view]))
  }

  async readVault(ref: string): Promise<Sealed | null> {
    const [, receipt] = /^vault\/([0-9]{1,15})$/.exec(ref) ?? []
    if (receipt === undefined) return null
    const [row] = await this.#run(this.#statements.vault, [receipt])
    return row === undefined ? null : toSealed(row)
  }

  async readRequest(effect: string): Promise<Sealed | null> {
    const [row] = await this.#run(this.#statements.request, [effect])
    return row === undefined ? null : toSealed(row)
  }

  async status(): Promise<StoreStatus> {
    const rows = await this.#run(this.#statements.status, [])
    const totals = new Map(rows.map(({ name, value }) => [name as string, value as number | null]))
    const total = (name: string) => totals.get(name) ?? 0
    const accepted = total('accepted')
    const quarantined = total('quarantined')
    const byState = Object.fromEntries(
      effectStates.map((state) => [
        state,
        total(isFinalState(state) ? `tally ${state}` : `effects ${state}`),
      ]),
    ) as Record<EffectState, number>
    return {
      schema: total('schema'),
      receipts: {
        total: total('tally receipts'),
        duplicates: total('tally duplicates'),
        byState: { accepted, quarantined, planned: total('tally receipts') - accepted - quarantined },
      },
      outbox: { waiting: accepted + total('alerts'), oldestAt: totals.get('oldest') ?? null },
      quarantine: total('waiting'),
      effects: {
        total: Object.values(byState).reduce((sum, count) => sum + count, 0),
        byState,
        disputed: total('disputed'),
        escalated: total('escalated'),
      },
    }
  }

  async #views(statement: Statement, parameters: readonly SqlValue[]): Promise<EffectView[]> {
    const { reference } = this.#time
    const rows = await this.#run(statement, [...parameters, this.#time.now(reference)])
    return rows.map((row) => toEffect(row, reference))
  }
}

function toCause(row: Row): CauseView {
  const { receipt, producer, event_id: eventId, type, trigger, at } = row
  return { receipt, producer, eventId, type, trigger, at }
}

export function readingStatements(schema: string) {
  const s = quoted(schema)
  const reads = (name: string, text: string): Statement => ({
    name: `counterfoil_${name}`,
    writes: false,
    text,
  })
  const before = (table: string) =>
    `coalesce((select seq from ${s}.${table} where id = $1::text), 9223372036854775807)`
  const newest = `coalesce((select seq from ${s}.receipt where id = $1::text), (select max(seq) + 1 from ${s}.receipt))`
  const receipt = `select ${receiptColumns(s)} from ${s}.receipt r`
  const receipts = (name: string, from: string, of: string, those = 'true') =>
    reads(
      name,
      `select ${receiptColumns(s)} from ${from} where ${those} and ${of} < ${newest} and ${of} >= ${newest} - coalesce($4::bigint, ${newest})
       and ($2::text is null or r.producer = $2) order by ${of} desc limit $3::int`,
    )
  // Where they wait, or what was written of them: each by its primary key.
  const receiptsIn = (table: string, those?: string) =>
    receipts(
      `receipts_${table}`,
      `${s}.${table} w join ${s}.receipt r on r.seq = w.receipt`,
      'w.receipt',
      those,
    )
  // The store's time comes last: each statement's own parameters have their places first.
  const effect = (now: number) =>
    `select ${effectColumns}, ${stateColumns(nowSql(`$${now}::bigint`))}, ${historyColumns(s)}`
  const joined = `left join ${s}.open o on o.effect = e.seq left join ${s}.final f on f.effect = e.seq`
  const final = `${s}.final f join ${s}.effect e on e.seq = f.effect left join ${s}.open o on o.effect = e.seq`
  // Rows of one value, from the cursor down. Written as a range and ordered by both columns, or the planner walks the
  // primary key and filters: of a value that is a parameter it does not know how few have it.
  const oneOf = (column: string, value: string, seq: string) =>
    `(${column}, ${seq}) > (${value}, 0) and (${column}, ${seq}) < (${value}, ${before('effect')})`
  // Nearly all that are final, so no index is kept of them: what is walked is told, and where the walk ended.
  const walk = `from ${s}.final f where f.effect < ${before('effect')} and $2::text is null order by f.effect desc`
  const walkAt = `from ${s}.effect e where ${oneOf('e.recipient', '$2::text', 'e.seq')} order by e.recipient desc, e.seq desc`
  const confirmed = (name: string, walked: string, order: string) =>
    reads(
      name,
      `with page as materialized (select w.seq from (${walked} limit $4::bigint) w where w.state = 'confirmed' order by ${order} limit $3::int)
       ${effect(5)} from page w join ${s}.effect e on e.seq = w.seq ${joined} order by w.seq desc`,
    )
  const page = (of: string) => `${of} < ${before('effect')} and ($2::text is null or e.recipient = $2)`
  return {
    receipts: receipts('receipts', `${s}.receipt r`, 'r.seq'),
    receiptsIn: {
      accepted: receiptsIn('outbox'),
      planned: receiptsIn('plan'),
      quarantined: receiptsIn('quarantine', "w.state <> 'released'"),
    },
    endOfWalk: reads(
      'end_of_walk',
      `select id from ${s}.receipt w where w.seq >= ${newest} - $2::bigint and w.seq < ${newest} order by w.seq limit 1`,
    ),
    receipt: reads('receipt', `${receipt} where r.id = $1`),
    // cause_receipt
    effectsOf: reads(
      'effects_of',
      `select e.id, e.recipient, e.key, coalesce(o.state, f.state) as state
       from ${s}.effect e ${joined} where e.seq in
         (select effect from ${s}.cause where receipt = (select seq from ${s}.receipt where id = $1)) order by e.seq`,
    ),
    effects: reads(
      'effects',
      `${effect(4)} from ${s}.effect e ${joined} where ${page('e.seq')} order by e.seq desc limit $3::int`,
    ),
    // effect_recipient
    effectsAt: reads(
      'effects_at',
      `${effect(4)} from ${s}.effect e ${joined} where ${oneOf('e.recipient', '$2::text', 'e.seq')}
       order by e.recipient desc, e.seq desc limit $3::int`,
    ),
    effectsOpen: reads(
      'effects_open',
      `${effect(5)} from ${s}.open o join ${s}.effect e on e.seq = o.effect left join ${s}.final f on f.effect = e.seq
       where ${page('o.effect')} and o.state = $4 order by o.effect desc limit $3::int`,
    ),
    // final_state, final_recipient: the few that are not confirmed.
    effectsEnded: reads(
      'effects_ended',
      `${effect(5)} from ${final} where f.state <> 'confirmed' and ${oneOf('f.state', '$4::text', 'f.effect')}
       and $2::text is null order by f.state desc, f.effect desc limit $3::int`,
    ),
    effectsEndedAt: reads(
      'effects_ended_at',
      `${effect(5)} from ${final} where f.state <> 'confirmed' and ${oneOf('f.recipient, f.state', '$2::text, $4::text', 'f.effect')}
       order by f.recipient desc, f.state desc, f.effect desc limit $3::int`,
    ),
    // The primary key of final; effect_recipient.
    confirmed: confirmed('confirmed', `select f.effect as seq, f.state ${walk}`, 'w.seq desc'),
    confirmedAt: confirmed(
      'confirmed_at',
      `select e.recipient, e.seq, (select f.state from ${s}.final f where f.effect = e.seq) as state ${walkAt}`,
      'w.recipient desc, w.seq desc',
    ),
    endOfConfirmed: reads(
      'end_of_confirmed',
      `select id from ${s}.effect where seq = (select f.effect ${walk} limit 1 offset $3::bigint - 1)`,
    ),
    endOfConfirmedAt: reads('end_of_confirmed_at', `select e.id ${walkAt} limit 1 offset $3::bigint - 1`),
    // The unique index of id, effect_key, effect_idempotency.
    effectsNamed: reads(
      'effects_named',
      `${effect(2)} from ${s}.effect e ${joined} where e.seq in (
         select seq from ${s}.effect where id = $1 union select seq from ${s}.effect where key = $1
         union select seq from ${s}.effect where hashtextextended(idempotency_key, 0) = hashtextextended($1, 0) and idempotency_key = $1)
       order by e.seq`,
    ),
    effectsById: reads(
      'effects_by_id',
      `${effect(2)} from ${s}.effect e ${joined} where e.id = any($1::text[])`,
    ),
    // cause_effect
    causes: reads(
      'causes',
      `select e.id as effect, r.id as receipt, r.producer, r.event_id, r.type, c.trigger, c.at::float8
       from ${s}.effect e join ${s}.cause c on c.effect = e.seq join ${s}.receipt r on r.seq = c.receipt
       where e.id = any($1::text[]) order by c.at, c.receipt`,
    ),
    // The unique index of id, then the primary key of request.
    request: reads(
      'request',
      `select key_id, nonce, ciphertext from ${s}.request where effect = (select seq from ${s}.effect where id = $1::text)`,
    ),
    vault: reads('vault', `select key_id, nonce, ciphertext from ${s}.vault where receipt = $1::bigint`),
    status: reads(
      'status',
      `select 'schema' as name, max(version)::float8 as value from ${s}.migration
       union all select 'tally ' || name, sum(value)::float8 from ${s}.tally group by name
       union all select 'accepted', count(*)::float8 from ${s}.outbox
       union all select 'alerts', count(*)::float8 from ${s}.alert
       union all select 'quarantined', count(*)::float8 from ${s}.quarantine where state <> 'released'
       union all select 'waiting', count(*)::float8 from ${s}.quarantine where state = 'waiting'
       union all select 'effects ' || state, count(*)::float8 from ${s}.open group by state
       union all select 'disputed', (select count(*) from ${s}.open where disputed)::float8
         + (select count(*) from ${s}.final where (disputed or escalated) and disputed)::float8
       union all select 'escalated', (select count(*) from ${s}.open where escalated)::float8
         + (select count(*) from ${s}.final where (disputed or escalated) and escalated)::float8
       union all select 'oldest', min(at)::float8 from (
         (select received_at as at from ${s}.receipt where seq = (select min(receipt) from ${s}.outbox))
         union all (select raised_at from ${s}.alert where seq = (select min(seq) from ${s}.alert))) t`,
    ),
  }
}
