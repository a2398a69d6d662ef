import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditRecord, EffectView } from '../../../store/index.ts'
import {
  acknowledged,
  acted,
  delivery,
  effect,
  entry,
  goodEntries,
  heard,
  history,
  promises,
  receipt,
  sent,
} from '../fixtures/good-history.ts'
import type { Entry, History, Promises } from '../history.ts'
import { type Invariant, invariants, violationsOf } from './index.ts'

const hour = 3_600_000
/** Of other recipients: what differs from one that remembers keys for an hour and replays. */
const at = (more: Partial<Promises>) => ({ promises: new Map([['main', { ...promises, ...more }]]) })
const plus = (...more: Entry[]) => ({ entries: [...goodEntries, ...more] })
const again = { ...sent, nth: 2 }
const unclear = { ...heard, status: null, exchange: 'unclear' } as const
const unknownFirst = (...more: Entry[]) => ({
  entries: [{ at: 1_000, ...sent }, { at: 6_000, ...unclear }, ...more] as Entry[],
})
const queryable = { repeats: 'refused', lookup: { finalAfterMs: 60_000 } } as const
const nothing = { repeats: null, remembersMs: 0 } as const
const audited = (reason: string) => ({ decision: 'd1', operator: 'ada', reason }) as unknown as AuditRecord

const evidence = (kind: string, fact: string, to = 'withdrawn') =>
  ({ kind, fact, from: 'unknown', to, by: 'ada', why: 'seen' }) as unknown as EffectView['evidence'][number]
const decided = (decision: string, outcome: string, act = 'dismiss'): Entry => ({
  at: 50,
  kind: 'decided',
  entry: 'qua_1',
  version: 1,
  act,
  decision,
  outcome,
})

/** Histories that break one promise each. Who plants another kind of violation adds it here. */
const planted: readonly (readonly [Invariant, string, History])[] = [
  ['I1', 'an acknowledged delivery without a receipt', history({ records: { receipts: [] } })],
  [
    'I1',
    'an acknowledgement before the commit',
    history(plus({ at: 30, ...acknowledged, committed: false })),
  ],
  [
    'I1',
    'a forged delivery that was acknowledged',
    history({ deliveries: [{ ...delivery, variant: 'forged' }] }),
  ],
  [
    'I2',
    'two receipts for one event',
    history({
      records: {
        receipts: [receipt, { ...receipt, id: 'rcp_2' as never, rawFingerprint: 'raw-sha256:2' as never }],
      },
    }),
  ],
  ['I3', 'a receipt without its outbox record', history({ records: { strayOutbox: 1 } })],
  ['I3', 'a quarantined receipt without an entry', history({ records: { strayQuarantine: 1 } })],
  ['I3', 'a receipt of an event that nobody sent', history({ deliveries: [{ ...delivery, id: 'e7' }] })],
  ['I4', 'a receipt that is stuck', history({ records: { receipts: [{ ...receipt, state: 'accepted' }] } })],
  ['I5', 'a request before its attempt is durable', history(plus({ at: 2_000, ...again, durable: false }))],
  ['I5', 'a request of no effect', history({ records: { effects: [] } })],
  [
    'I4',
    'an event that nothing supports is planned',
    history({ deliveries: [{ ...delivery, startsNothing: true }] }),
  ],
  [
    'I4',
    'a row of the program’s own that no plan wrote',
    history({ records: { rows: new Map([['order/1/written', 1]]) } }),
  ],
  [
    'I14',
    'a version compared in another domain',
    history({
      entries: goodEntries.map((one) => (one.kind === 'acted' ? { ...one, domain: 'b', version: 1 } : one)),
      records: { effects: [{ ...effect, order: { domain: 'a', version: 1 } } as never] },
    }),
  ],
  [
    'I17',
    'other bytes that are told to be a duplicate',
    history({
      deliveries: [delivery, { ...delivery, index: 1, variant: 'altered', body: '{"order":1,"amount":11}' }],
      entries: [...goodEntries, { at: 30, ...acknowledged, delivery: 1, outcome: 'duplicate' }],
    }),
  ],
  [
    'I20',
    'a 409 that is held for a refusal',
    history({
      entries: goodEntries.filter(({ kind }) => kind !== 'acted' && kind !== 'moved'),
      records: {
        effects: [
          {
            ...effect,
            state: 'refused',
            attempts: [{ ...effect.attempts[0]!, outcome: 'refused', status: 409 }],
          },
        ],
      },
    }),
  ],
  [
    'I3',
    'a quarantine entry of which nobody was told',
    history({ tellsAlerts: true, records: { quarantine: [entry] } }),
  ],
  [
    'I22',
    'an unknown effect that was given to nobody',
    history({
      ...at(nothing),
      tellsAlerts: true,
      records: { effects: [{ ...effect, state: 'unknown', escalated: false }] },
    }),
  ],
  [
    'I4',
    'an effect that nothing caused',
    history({ records: { causes: [{ effect: 'eff_1', receipt: null }] } }),
  ],
  [
    'I4',
    'an effect that a receipt in quarantine caused',
    history({
      records: {
        receipts: [receipt, { ...receipt, id: 'rcp_2' as never, eventId: 'e1', state: 'quarantined' }],
        causes: [{ effect: 'eff_1', receipt: 'rcp_2' }],
      },
    }),
  ],
  [
    'I5',
    'a request after the lease of its attempt',
    history({ leaseMs: 10_000, ...plus({ at: 11_100, ...again, clock: 11_100 }) }),
  ],
  [
    'I10',
    'an act after its absence was final',
    history({
      ...at(queryable),
      entries: [
        { at: 1_000, ...sent },
        { at: 62_000, ...acted },
      ],
    }),
  ],
  [
    'I10',
    'a repeat after an absence that was only forgotten',
    history({
      ...at(queryable),
      ...unknownFirst(
        { at: 2_000 + hour, kind: 'asked', recipient: 'main', key: 'cf_1', status: 404, process: 0 },
        { at: 3_000 + hour, ...again },
      ),
    }),
  ],
  [
    'I17',
    'another payload under a key that was told of the first act',
    history(plus({ at: 2_000, kind: 'intruded', recipient: 'main', op: 'order/1/act', status: 200 })),
  ],
  [
    'I20',
    'withdrawn, and no key was closed',
    history({
      entries: goodEntries.filter(({ kind }) => kind !== 'acted' && kind !== 'moved'),
      records: {
        effects: [
          { ...effect, state: 'withdrawn', attempts: [], evidence: [evidence('tombstone', 'tombstoned')] },
        ],
      },
    }),
  ],
  [
    'I20',
    'refused by an operator, found to have acted, and not disputed',
    history({
      records: {
        effects: [
          {
            ...effect,
            state: 'refused',
            attempts: [],
            evidence: [
              evidence('operator', 'operatorRefused', 'refused'),
              { ...evidence('late-answer', 'confirmed', 'refused'), from: 'refused' },
            ],
          },
        ],
      },
    }),
  ],
  ['I20', 'an act of an operator that did something else', history(plus(decided('d1', 'released')))],
  [
    'I20',
    'two decisions on one view',
    history({
      ...plus(decided('d1', 'assigned', 'assign'), decided('d2', 'dismissed')),
      records: { audit: [audited('because'), { ...audited('because'), decision: 'd2' }] },
    }),
  ],
  [
    'I22',
    'an answer that was heard and is not in the ledger',
    history({
      ...at(nothing),
      records: { effects: [{ ...effect, state: 'unknown' }] },
    }),
  ],
  ['I6', 'two rows under one key', history({ records: { effects: [effect, effect] } })],
  [
    'I7',
    'other bytes at a repeat',
    history(plus({ at: 2_000, ...again, body: '{"op":"order/1/act","amount":11}' })),
  ],
  ['I7', 'another version at a repeat', history(plus({ at: 2_000, ...again, version: 3 }))],
  ['I8', 'a fresh key for the same effect', history(plus({ at: 2_000, ...again, key: 'cf_2' }))],
  [
    'I8',
    'one key for two effects',
    history({ records: { effects: [effect, { ...effect, key: 'order/2/act' as never }] } }),
  ],
  ['I9', 'two acts at an idempotent recipient', history(plus({ at: 2_000, ...acted }))],
  [
    'I10',
    'two acts at a queryable recipient',
    history({ ...at(queryable), ...plus({ at: 2_000, ...acted }) }),
  ],
  [
    'I10',
    'a repeat without proven absence',
    history({ ...at(queryable), ...unknownFirst({ at: 90_000, ...again }) }),
  ],
  [
    'I10',
    'a repeat after an absence that was not final yet',
    history({
      ...at(queryable),
      ...unknownFirst(
        { at: 20_000, kind: 'asked', recipient: 'main', key: 'cf_1', status: 404, process: 0 },
        { at: 21_000, ...again },
      ),
    }),
  ],
  [
    'I11',
    'a repeat where nothing makes it safe',
    history({ ...at(nothing), ...unknownFirst({ at: 9_000, ...again }) }),
  ],
  [
    'I11',
    'two acts where nothing recognises a repeat',
    history({ ...at(nothing), ...plus({ at: 2_000, ...acted }) }),
  ],
  [
    'I12',
    'a confirmed effect that moved',
    history(plus({ at: 9_000, kind: 'moved', effect: 'eff_1', from: 'confirmed', to: 'planned' })),
  ],
  [
    'I12',
    'a dismissed entry that started work',
    history({
      ...plus({
        at: 50,
        kind: 'decided',
        entry: 'qua_1',
        version: 1,
        act: 'dismiss',
        decision: 'd1',
        outcome: 'dismissed',
      }),
      records: {
        quarantine: [{ ...entry, receipt: 'rcp_1' as never, state: 'dismissed' }],
        audit: [audited('because')],
      },
    }),
  ],
  [
    'I13',
    'unknown that was left without evidence',
    history(plus({ at: 9_000, kind: 'moved', effect: 'eff_1', from: 'unknown', to: 'confirmed' })),
  ],
  [
    'I13',
    'a repeat without an attempt',
    history(plus({ at: 9_000, kind: 'moved', effect: 'eff_1', from: 'unknown', to: 'attempting' })),
  ],
  [
    'I13',
    'an effect that acted and counts as planned',
    history({ records: { effects: [{ ...effect, state: 'planned' }] } }),
  ],
  [
    'I14',
    'an older version that acted after a newer one',
    history({
      ...at({ fences: true }),
      ...plus(
        { at: 2_000, ...acted, op: 'order/1/version/3', domain: 'order/1', version: 3 },
        { at: 3_000, ...acted, op: 'order/1/version/2', domain: 'order/1', version: 2 },
      ),
    }),
  ],
  [
    'I14',
    'an ordered effect that was sent without its version',
    history({
      ...at({ fences: true }),
      records: { effects: [{ ...effect, order: { domain: 'order/1', version: 3 } }] },
    }),
  ],
  [
    'I15',
    'an act after its tombstone',
    history({
      entries: [
        { at: 1_000, ...sent },
        { at: 1_010, kind: 'closed', recipient: 'main', key: 'cf_1', status: 200, process: 0 },
        { at: 1_050, ...acted },
      ],
    }),
  ],
  ['I16', 'a repeat after the retention ran out', history(unknownFirst({ at: 1_000 + hour + 1, ...again }))],
  [
    'I16',
    'a repeat where the retention is unstated',
    history({ ...at({ unstated: true }), ...unknownFirst({ at: 9_000, ...again }) }),
  ],
  [
    'I17',
    'another payload that left under the key',
    history({
      deliveries: [
        delivery,
        {
          ...delivery,
          index: 1,
          id: 'e1',
          operations: [{ recipient: 'main', op: 'order/1/act', body: '{"op":"order/1/act","amount":11}' }],
        },
      ],
      records: { receipts: [receipt, { ...receipt, id: 'rcp_2' as never, eventId: 'e1' }] },
    }),
  ],
  [
    'I17',
    'a conflicting receipt that was planned',
    history({
      records: {
        receipts: [
          receipt,
          {
            ...receipt,
            id: 'rcp_2' as never,
            rawFingerprint: 'raw-sha256:2' as never,
            conflictsWith: 'rcp_1' as never,
          },
        ],
      },
    }),
  ],
  [
    'I18',
    'a replay beyond retention that was accepted',
    history({ deliveries: [{ ...delivery, beyondRetention: true }] }),
  ],
  [
    'I19',
    'a backfill that made a receipt again',
    history({
      records: {
        receipts: [
          receipt,
          {
            ...receipt,
            id: 'rcp_2' as never,
            origin: 'backfill/may',
            source: 'file',
            rawFingerprint: 'raw-sha256:2' as never,
          },
        ],
      },
    }),
  ],
  [
    'I19',
    'a backfill that caused what live traffic had',
    history(plus({ at: 8_000, kind: 'backfilled', run: 'may', caused: 1 })),
  ],
  [
    'I20',
    'confirmed without an act',
    history({ entries: goodEntries.filter(({ kind }) => kind !== 'acted') }),
  ],
  ['I20', 'refused, and it acted', history({ records: { effects: [{ ...effect, state: 'refused' }] } })],
  ['I20', 'a final state without evidence', history({ records: { effects: [{ ...effect, attempts: [] }] } })],
  ['I20', 'an act of an operator without a reason', history({ records: { audit: [audited(' ')] } })],
  [
    'I20',
    'a decision that is in no audit log',
    history(
      plus({
        at: 50,
        kind: 'decided',
        entry: 'qua_1',
        version: 1,
        act: 'assign',
        decision: 'd1',
        outcome: 'assigned',
      }),
    ),
  ],
  [
    'I21',
    'a secret in a log line',
    history(
      plus({
        at: 50,
        kind: 'logged',
        process: 0,
        level: 'warn',
        message: 'oh',
        fields: { token: 'a-secret' },
      }),
    ),
  ],
  ['I21', 'a secret in a receipt', history({ records: { receipts: [{ ...receipt, type: 'a-secret' }] } })],
  ['I21', 'a secret in an answer', history(plus({ at: 50, ...acknowledged, text: 'a-secret' }))],
  [
    'I22',
    'an effect that is still planned',
    history({
      entries: goodEntries.filter(({ kind }) => kind !== 'acted'),
      records: { effects: [{ ...effect, state: 'planned' }] },
    }),
  ],
  [
    'I22',
    'unknown with a path to evidence',
    history({ records: { effects: [{ ...effect, state: 'unknown' }] } }),
  ],
  [
    'I22',
    'unknown with a path to evidence that was let go by until the recipient had forgotten',
    history({
      ...unknownFirst(),
      records: { at: 70 * 60_000, effects: [{ ...effect, state: 'unknown' }] },
    }),
  ],
]

test('a history in which every promise is kept has no violation', () => {
  assert.deepEqual(violationsOf(history()), [])
})

for (const [invariant, what, broken] of planted) {
  test(`${invariant} is reported: ${what}`, () => {
    const found = violationsOf(broken).map((violation) => violation.invariant)
    assert.ok(found.includes(invariant), `found ${found.join(', ') || 'nothing'}`)
  })
}

test('what a person decided on evidence of their own is no violation, nor an answer that died with who heard it', () => {
  const attempts = [{ ...effect.attempts[0]!, outcome: 'unknown' as const }]
  const refused = {
    ...effect,
    state: 'refused',
    attempts,
    evidence: [evidence('operator', 'operatorRefused', 'refused')],
  } as const
  assert.deepEqual(violationsOf(history({ records: { effects: [refused] } })), [])
  const died = plus({ at: 1_200, kind: 'process', process: 0, what: 'dies' })
  const records = { effects: [{ ...effect, state: 'unknown', attempts, escalated: true } as const] }
  assert.deepEqual(violationsOf(history({ ...at(nothing), ...died, records })), [])
})

test('an effect that a person withdrew before any attempt is no violation', () => {
  const withdrawn = {
    ...effect,
    state: 'withdrawn',
    attempts: [],
    evidence: [{ ...evidence('operator', 'withdrawn', 'withdrawn'), attempt: null, from: 'planned' }],
  } as const
  const quiet = goodEntries.filter(({ kind }) => kind === 'delivered' || kind === 'acknowledged')
  assert.deepEqual(violationsOf(history({ entries: quiet, records: { effects: [withdrawn] } })), [])
})

test('every invariant of design.md has a planted violation', () => {
  const covered = new Set(planted.map(([invariant]) => invariant))
  assert.deepEqual(
    invariants.filter((invariant) => !covered.has(invariant)),
    [],
  )
})

test('a repeat after a final absence is no violation, nor one after a request that was never sent', () => {
  const asked = { kind: 'asked', recipient: 'main', key: 'cf_1', status: 404, process: 0 } as const
  const proven = unknownFirst({ at: 70_000, ...asked }, { at: 71_000, ...again }, { at: 71_050, ...acted })
  assert.deepEqual(violationsOf(history({ ...at(queryable), ...proven })), [])
  const notSent = [
    { at: 900, ...heard, status: null, exchange: 'notSent' } as const,
    ...goodEntries.map((one) => ('nth' in one ? { ...one, nth: 2 } : one)),
  ]
  assert.deepEqual(violationsOf(history({ ...at(nothing), entries: notSent })), [])
})
