import assert from 'node:assert/strict'
import {
  type EffectId,
  type EffectState,
  isFinalState,
  type ReceiptId,
  type WorkerId,
} from '../../domain/index.ts'
import type { Acceptance, Accepted, Store } from '../store.ts'
import {
  delivery,
  effectOf,
  leaseMs,
  newEffect,
  planFor,
  quarantine,
  rejects,
  settlement,
  start,
  unfit,
} from './given.ts'

interface Arrived {
  readonly event: number
  readonly body: number
  readonly unfit: boolean
}

interface Receipt {
  readonly id: ReceiptId
  state: 'accepted' | 'planned' | 'quarantined'
  /** Quarantined when it came, so a copy is told that. */
  readonly unfit: boolean
}

interface Effect {
  readonly id: EffectId
  readonly payload: number
  state: EffectState
  version: number
  /** Null: the engine has nothing to do. */
  due: number | null
  worker: WorkerId | null
  attempts: number
}

/** A store beside a model of it: every call goes to both, and their answers have to agree. */
export class ModelledStore {
  readonly #store: Store
  /** By event and body; the first body of an event is its first receipt. */
  readonly #receipts = new Map<number, Map<number, Receipt>>()
  readonly #outbox = new Map<number, { readonly receipt: Receipt; at: number }>()
  readonly #effects = new Map<number, Effect>()
  #duplicates = 0
  #quarantined = 0
  #now = start

  constructor(store: Store) {
    this.#store = store
  }

  wait({ ms }: { ms: number }): void {
    this.#now += ms
  }

  async accept(arrived: Arrived): Promise<void> {
    const entry = this.#entryOf(arrived)
    this.#accepted(arrived, entry, await this.#store.accept(entry))
  }

  async acceptAll({ deliveries }: { deliveries: readonly Arrived[] }): Promise<void> {
    const entries = deliveries.map((arrived) => this.#entryOf(arrived))
    const answers = await this.#store.acceptAll(entries)
    for (const [at, arrived] of deliveries.entries()) this.#accepted(arrived, entries[at]!, answers[at]!)
  }

  #entryOf({ event, body, unfit: isUnfit }: Arrived): Acceptance {
    const options = { event: `evt_${event}`, body: `body ${body}`, at: this.#now }
    return isUnfit ? unfit('unsupported-type', options) : delivery(options)
  }

  #accepted({ event, body, unfit: isUnfit }: Arrived, entry: Acceptance, answer: Accepted): void {
    const known = this.#receipts.get(event)
    const same = known?.get(body)
    const [first] = known?.values() ?? []
    if (same !== undefined) {
      this.#duplicates++
      assert.equal(answer.receipt, same.id)
      const outcome = same !== first ? 'conflict' : same.unfit ? 'quarantined' : 'duplicate'
      assert.equal(answer.outcome, outcome)
      if ('repeated' in answer) assert.equal(answer.repeated, true)
      return
    }
    assert.equal(answer.receipt, entry.receipt.id)
    const conflict = first !== undefined
    const receipt: Receipt = {
      id: entry.receipt.id,
      state: isUnfit || conflict ? 'quarantined' : 'accepted',
      unfit: isUnfit && !conflict,
    }
    this.#receipts.set(event, (known ?? new Map<number, Receipt>()).set(body, receipt))
    assert.equal(answer.outcome, conflict ? 'conflict' : isUnfit ? 'quarantined' : 'accepted')
    if (answer.outcome === 'accepted') this.#outbox.set(answer.outbox, { receipt, at: this.#now })
    else this.#quarantined++
  }

  async claim({ worker }: { worker: WorkerId }): Promise<void> {
    const records = await this.#store.claimOutbox({ worker, now: this.#now, leaseMs, limit: 10_000 })
    const expected = [...this.#outbox].filter(([, { at }]) => at <= this.#now)
    const plans = records.filter(({ kind }) => kind === 'plan').map(({ outbox }) => outbox)
    assert.deepEqual(new Set(plans), new Set(expected.map(([number]) => number)))
    for (const [, record] of expected) record.at = this.#now + leaseMs
  }

  async plan({
    which,
    effects,
  }: {
    which: number
    effects: readonly { key: number; payload: number }[]
  }): Promise<void> {
    const [number, record] = this.#waiting(which) ?? []
    if (number === undefined || record === undefined) return
    const planned = effects.map(({ key, payload }) =>
      newEffect({ key: `key ${key}`, payload: `payload ${payload}`, at: this.#now }),
    )
    const answer = await this.#store.plan(planFor({ outbox: number, receipt: record.receipt.id }, ...planned))
    this.#outbox.delete(number)
    const own = new Map<number, number>()
    const conflict = effects.some(({ key, payload }) => {
      const other = own.get(key) ?? this.#effects.get(key)?.payload
      own.set(key, payload)
      return other !== undefined && other !== payload
    })
    assert.equal(answer.kind, conflict ? 'conflict' : 'planned')
    record.receipt.state = conflict ? 'quarantined' : 'planned'
    if (conflict) this.#quarantined++
    if (answer.kind !== 'planned') return
    for (const [index, { key, payload }] of effects.entries()) {
      const known = this.#effects.get(key)
      assert.equal(answer.effects[index]?.created, known === undefined)
      assert.equal(answer.effects[index]?.id, known?.id ?? planned[index]!.id)
      if (known !== undefined) continue
      this.#effects.set(key, {
        id: planned[index]!.id,
        payload,
        state: 'planned',
        version: 1,
        due: this.#now,
        worker: null,
        attempts: 0,
      })
    }
  }

  async giveUp({ which }: { which: number }): Promise<void> {
    const [number, record] = this.#waiting(which) ?? []
    if (number === undefined || record === undefined) return
    await this.#store.quarantinePlan({
      outbox: number,
      receipt: record.receipt.id,
      quarantine: quarantine('plan-failed'),
      at: this.#now,
    })
    this.#outbox.delete(number)
    record.receipt.state = 'quarantined'
    this.#quarantined++
    const again = await this.#store.plan(planFor({ outbox: number, receipt: record.receipt.id }, newEffect()))
    assert.equal(again.kind, 'consumed')
  }

  async postpone({ which }: { which: number }): Promise<void> {
    const [number, record] = this.#waiting(which) ?? []
    if (number === undefined || record === undefined) return
    record.at = this.#now + 5_000
    await this.#store.postponePlan({ outbox: number, at: record.at, error: 'internal: it threw' })
  }

  async takeDue({ worker }: { worker: WorkerId }): Promise<void> {
    const taken = await this.#store.takeDue({ worker, now: this.#now, leaseMs, slots: { bank: 100 } })
    const expected = [...this.#effects.values()].filter(({ due }) => due !== null && due <= this.#now)
    assert.equal(taken.length, expected.length)
    for (const effect of expected) {
      const work = taken.find(({ effect: { id } }) => id === effect.id)
      assert.equal(work?.kind, effect.state === 'planned' ? 'attempt' : 'attention')
      if (effect.state === 'planned') begin(effect)
      effect.due = this.#now + leaseMs
      effect.worker = worker
      assert.equal(work?.effect.state, effect.state)
      assert.equal(work?.effect.version, effect.version)
      assert.equal(work?.effect.attempts.length, effect.attempts)
    }
  }

  async settle({ key, to, stale }: { key: number; to: EffectState; stale: boolean }): Promise<void> {
    const effect = this.#effects.get(key)
    if (effect === undefined) return
    const expected = stale ? effect.version - 1 : effect.version
    const dueAt = isFinalState(to) ? null : this.#now + 10_000
    const change = settlement(
      { effect: { id: effect.id, version: expected } as never, attempt: effect.attempts },
      { to, at: this.#now, dueAt },
    )
    const call = this.#store.settle(change)
    if (stale) {
      const answer = await call
      assert.equal(answer.kind === 'stale' && answer.current.version, effect.version)
      return
    }
    if (isFinalState(effect.state) && effect.state !== to) {
      await rejects(call)
      return
    }
    assert.deepEqual(await call, { kind: 'settled', version: effect.version + 1 })
    effect.version++
    effect.state = to
    effect.due = dueAt
    effect.worker = null
  }

  async beginRepeat({ key, worker }: { key: number; worker: WorkerId }): Promise<void> {
    const effect = this.#effects.get(key)
    if (effect === undefined) return
    const work = await this.#store.beginRepeat({
      effect: effect.id,
      expectedVersion: effect.version,
      worker,
      now: this.#now,
      leaseMs,
    })
    assert.equal(work !== null, effect.state === 'unknown')
    if (work === null) return
    begin(effect)
    effect.due = this.#now + leaseMs
    effect.worker = worker
    assert.equal(work.attempt, effect.attempts)
  }

  async renew({ key, worker }: { key: number; worker: WorkerId }): Promise<void> {
    const effect = this.#effects.get(key)
    if (effect === undefined) return
    await this.#store.renew({ worker, effects: [effect.id], now: this.#now, leaseMs })
    if (effect.state === 'attempting' && effect.worker === worker && effect.due !== null)
      effect.due = this.#now + leaseMs
  }

  /** The whole of both. */
  async compare(): Promise<void> {
    const receipts = [...this.#receipts.values()].flatMap((bodies) => [...bodies.values()])
    const listed = await this.#store.listReceipts({ limit: 1_000 })
    assert.deepEqual(
      new Map(listed.map(({ id, state }) => [id, state])),
      new Map(receipts.map(({ id, state }) => [id, state])),
    )
    for (const effect of this.#effects.values()) {
      const { state, version, dueAt, attempts } = await effectOf(this.#store, effect.id)
      assert.deepEqual({ state, version, due: dueAt, attempts: attempts.length }, pick(effect))
    }
    const status = await this.#store.status()
    const count = (all: readonly { state: string }[], state: string) =>
      all.filter((one) => one.state === state).length
    for (const [state, total] of Object.entries(status.receipts.byState))
      assert.equal(total, count(receipts, state), `receipts ${state}`)
    for (const [state, total] of Object.entries(status.effects.byState))
      assert.equal(total, count([...this.#effects.values()], state), `effects ${state}`)
    assert.equal(status.receipts.duplicates, this.#duplicates)
    assert.equal(status.quarantine, this.#quarantined)
    assert.equal(await this.#store.backlog(), this.#outbox.size)
    // I3: what waits is what was accepted and one alert for each entry in quarantine.
    assert.equal(status.outbox.waiting, this.#outbox.size + this.#quarantined)
  }

  #waiting(which: number) {
    return [...this.#outbox][which]
  }
}

function begin(effect: Effect): void {
  effect.state = 'attempting'
  effect.version++
  effect.attempts++
}

function pick({ state, version, due, attempts }: Effect) {
  return { state, version, due, attempts }
}
