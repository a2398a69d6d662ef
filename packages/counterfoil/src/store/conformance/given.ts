import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  type CounterfoilError,
  deliveryDigest,
  type EffectId,
  type EffectKey,
  type EffectState,
  type ErrorCode,
  effectKey,
  fingerprintBytes,
  idempotencyKey,
  type QuarantineId,
  type ReceiptId,
  timeOrderedId,
  type WorkerId,
} from '../../domain/index.ts'
import type { EffectView, NewAudit, QuarantineReason, Sealed } from '../records.ts'
import type {
  Acceptance,
  Accepted,
  EffectWork,
  NewEffect,
  NewQuarantine,
  OutboxRecord,
  Plan,
  Settlement,
  Store,
} from '../store.ts'

/** One store under test. */
export interface StoreUnderTest {
  /** Open and migrated. */
  readonly store: Store
  /** Another handle on the same records, as another process would have; the first stays open. */
  reopen(): Promise<Store>
  /** Closes every handle and removes the records. */
  dispose(): Promise<void>
}

export type MakeStore = () => Promise<StoreUnderTest>

/** Runs one test on a store of its own. */
export function on(
  make: MakeStore,
  test: (store: Store, under: StoreUnderTest) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const under = await make()
    try {
      await test(under.store, under)
    } finally {
      await under.dispose()
    }
  }
}

/** When the tests' clock begins. */
export const start = 1_790_000_000_000
export const leaseMs = 30_000
export const alice = 'wrk_alice' as WorkerId
export const bob = 'wrk_bob' as WorkerId
/** Longer than any lease of these tests. */
export const muchLater = start + 86_400_000

let made = 0

export interface DeliveryOptions {
  /** The producer's id of the event; a new one unless given. */
  readonly event?: string
  readonly body?: string
  readonly producer?: string
  readonly unsigned?: boolean
  readonly type?: string
  readonly at?: number
  /** It comes by the backfill of this name. */
  readonly backfill?: string
  readonly handOff?: { readonly worker: WorkerId; readonly leaseMs: number }
}

export function delivery(options: DeliveryOptions = {}): Acceptance {
  const { event = `evt_${++made}`, body = `body of ${event}`, producer = 'stripe', at = start } = options
  const identity = { namespace: `${producer}/acct_1`, source: 'test', id: event }
  const fingerprint = fingerprintBytes(Buffer.from(body))
  return {
    receipt: {
      id: timeOrderedId<ReceiptId>('rcp', at, randomBytes(10)),
      delivery: deliveryDigest(identity),
      producer,
      namespace: identity.namespace,
      source: identity.source,
      eventId: event,
      type: options.type ?? 'invoice.paid',
      schemaVersion: null,
      fingerprint,
      rawFingerprint: fingerprint,
      contentType: 'application/json',
      bytes: body.length,
      provenance: options.unsigned === true ? 'unsigned' : 'signed',
      origin: options.backfill === undefined ? 'live' : `backfill/${options.backfill}`,
      waived: options.backfill === undefined ? null : 'signature',
      eventAt: null,
      receivedAt: at,
      trace: null,
    },
    payload: sealed(body),
    next: { kind: 'plan', handOff: options.handOff ?? null },
    onConflict: { id: quarantineId(at), owner: 'billing' },
  }
}

/** An authentic delivery that can start no work. */
export function unfit(reason: QuarantineReason, options: DeliveryOptions = {}): Acceptance {
  return { ...delivery(options), next: { kind: 'quarantine', quarantine: quarantine(reason, options.at) } }
}

export function quarantine(reason: QuarantineReason, at = start): NewQuarantine {
  return { id: quarantineId(at), reason, detail: { fault: 'as stated' }, owner: 'billing' }
}

/** What an operator did; a new decision unless given. */
export function newAudit(about: Partial<NewAudit> = {}): NewAudit {
  return {
    at: start,
    operator: 'dana',
    role: 'operator',
    act: 'quarantine.reprocess',
    subject: 'qua_1',
    decision: `decision-${++made}`,
    reason: 'the trigger is deployed now',
    detail: {},
    ...about,
  }
}

export function quarantineId(at = start): QuarantineId {
  return timeOrderedId<QuarantineId>('qua', at, randomBytes(10))
}

/** Bytes in place of a ciphertext: a store does not open them. */
export function sealed(body: string): Sealed {
  return { keyId: 'test-1', nonce: new Uint8Array(12).fill(7), ciphertext: new Uint8Array(Buffer.from(body)) }
}

export interface EffectOptions {
  readonly key?: string
  readonly payload?: string
  readonly recipient?: string
  readonly at?: number
}

export function newEffect({
  key = `invoice/${++made}`,
  payload = 'pay',
  recipient = 'bank',
  at = start,
}: EffectOptions = {}): NewEffect {
  return {
    id: timeOrderedId<EffectId>('eff', at, randomBytes(10)),
    recipient,
    key: effectKey(key),
    name: 'invoice.collect',
    trigger: 'collect a paid invoice',
    fingerprint: fingerprintBytes(Buffer.from(payload)),
    idempotencyKey: idempotencyKey({ recipient, key: key as EffectKey }),
    order: null,
    plannedAt: at,
    trace: null,
    request: sealed(`request ${payload}`),
  }
}

export function planFor(
  record: { readonly outbox: number; readonly receipt: ReceiptId },
  ...effects: NewEffect[]
): Plan {
  const { outbox, receipt } = record
  return {
    outbox,
    receipt,
    at: start,
    plannedBy: 'config-1',
    effects,
    onConflict: { id: quarantineId(), owner: 'billing' },
  }
}

/** Accepts a delivery that is expected to be new. */
export async function accepted(
  store: Store,
  options: DeliveryOptions = {},
): Promise<Extract<Accepted, { outcome: 'accepted' }>> {
  const answer = await store.accept(delivery(options))
  assert.equal(answer.outcome, 'accepted')
  return answer as Extract<Accepted, { outcome: 'accepted' }>
}

/** A new effect, planned by a delivery of its own. */
export async function plannedEffect(store: Store, options: EffectOptions = {}): Promise<EffectView> {
  const effect = newEffect(options)
  const planned = await store.plan(planFor(await accepted(store), effect))
  assert.equal(planned.kind, 'planned')
  return await effectOf(store, effect.id)
}

/** A new effect whose first attempt has begun; in the name of `alice` unless told otherwise. */
export async function begun(
  store: Store,
  options: EffectOptions & { worker?: WorkerId } = {},
): Promise<EffectWork> {
  const { id, recipient } = await plannedEffect(store, options)
  const worker = options.worker ?? alice
  const taken = await store.takeDue({
    worker,
    now: options.at ?? start,
    leaseMs,
    slots: { [recipient]: 1_000 },
  })
  const work = taken.find((one) => one.effect.id === id)
  assert.equal(work?.kind, 'attempt')
  return work as EffectWork
}

/** An effect whose attempt ended without an answer. */
export async function unknownEffect(store: Store, options: EffectOptions = {}): Promise<EffectView> {
  const work = await begun(store, options)
  await settled(store, settlement(work, { to: 'unknown', dueAt: start + 60_000 }))
  return await effectOf(store, work.effect.id)
}

const outcomes: Partial<Record<EffectState, 'confirmed' | 'refused' | 'fenced' | 'notActed' | 'unknown'>> = {
  confirmed: 'confirmed',
  refused: 'refused',
  fenced: 'fenced',
  planned: 'notActed',
  unknown: 'unknown',
}

/** The answer of an attempt that is in flight. */
export function settlement(
  { effect, attempt }: { effect: EffectView; attempt: number },
  change: Partial<Settlement> & { to: EffectState },
): Settlement {
  const outcome = outcomes[change.to]
  return {
    effect: effect.id,
    expectedVersion: effect.version,
    at: start + 1_000,
    disputed: false,
    escalated: false,
    dueAt: null,
    closeAttempts: false,
    ...(outcome === undefined
      ? {}
      : {
          attempt: {
            number: attempt,
            outcome,
            why: `answered ${outcome}`,
            status: 200,
            correlation: 'req_1',
            retryAfterMs: null,
          },
        }),
    ...change,
  }
}

export async function settled(store: Store, change: Settlement): Promise<number> {
  const answer = await store.settle(change)
  assert.equal(answer.kind, 'settled')
  return (answer as { version: number }).version
}

export async function effectOf(store: Store, id: EffectId): Promise<EffectView> {
  const [story] = await store.showEffects(id)
  assert.ok(story, `there is no effect ${id}`)
  return story.effect
}

/** Everything that waits and is due at `now`, claimed in the name of `worker`. */
export async function claim(
  store: Store,
  now = start,
  worker = alice,
  limit = 1_000,
): Promise<OutboxRecord[]> {
  return await store.claimOutbox({ worker, now, leaseMs, limit })
}

export function plansOf(records: readonly OutboxRecord[]) {
  return records.filter((record) => record.kind === 'plan')
}

export function alertsOf(records: readonly OutboxRecord[]) {
  return records.filter((record) => record.kind === 'alert')
}

export async function rejects(promise: Promise<unknown>, ...codes: ErrorCode[]): Promise<void> {
  await assert.rejects(promise, (error: CounterfoilError) => {
    assert.ok(
      codes.length === 0 || codes.includes(error.code),
      `expected ${codes.join(' or ')}, got ${error.code}: ${error.message}`,
    )
    return true
  })
}
