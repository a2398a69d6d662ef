import assert from 'node:assert/strict'
import { it } from 'node:test'
import { effectStates, isFinalState } from '../../domain/index.ts'
import type { EvidenceRecord } from '../records.ts'
import {
  alertsOf,
  alice,
  begun,
  bob,
  claim,
  effectOf,
  leaseMs,
  type MakeStore,
  on,
  plannedEffect,
  rejects,
  settled,
  settlement,
  start,
  unknownEffect,
} from './given.ts'

const found: Omit<EvidenceRecord, 'at' | 'to'> = {
  kind: 'lookup',
  fact: 'foundActed',
  attempt: null,
  from: 'unknown',
  why: 'the recipient has it',
  status: 200,
  correlation: 'op_9',
  by: 'engine',
}

type Work = Awaited<ReturnType<typeof begun>>

/** Design decision 4. */
export function settling(make: MakeStore): void {
  it(
    'an answer ends its attempt and moves its effect',
    on(make, async (store, { reopen }) => {
      const work = await begun(store)
      assert.deepEqual(await store.settle(settlement(work, { to: 'confirmed' })), {
        kind: 'settled',
        version: 3,
      })
      const effect = await effectOf(await reopen(), work.effect.id)
      assert.equal(effect.state, 'confirmed')
      assert.equal(effect.version, 3)
      assert.equal(effect.changedAt, start + 1_000)
      assert.equal(effect.dueAt, null)
      assert.deepEqual(effect.attempts, [
        {
          number: 1,
          begunAt: start,
          endedAt: start + 1_000,
          outcome: 'confirmed',
          open: false,
          why: 'answered confirmed',
          status: 200,
          correlation: 'req_1',
          retryAfterMs: null,
          worker: alice,
        },
      ])
    }),
  )

  it(
    'many that settle at once each get their own answer, and one that moved meanwhile is told of it',
    on(make, async (store) => {
      await Promise.all(Array.from({ length: 200 }, () => plannedEffect(store)))
      const works = (
        await store.takeDue({ worker: alice, now: start, leaseMs, slots: { bank: 1_000 } })
      ).filter((work) => work.kind === 'attempt')
      assert.equal(works.length, 200)
      const ends = ['confirmed', 'confirmed', 'unknown', 'refused', 'planned'] as const
      const stale = 42
      const given = works.map((work, n) => {
        const one = settlement(work, {
          to: ends[n % ends.length]!,
          dueAt: n % ends.length === 2 ? start + n : null,
        })
        const expectedVersion = n === stale ? one.expectedVersion + 1 : one.expectedVersion
        return {
          ...one,
          expectedVersion,
          attempt: { ...one.attempt!, correlation: `req_${n}`, status: 200 + n },
        }
      })
      const answers = await Promise.all(given.map((one) => store.settle(one)))
      for (const [n, work] of works.entries()) {
        const effect = await effectOf(store, work.effect.id)
        const [attempt] = effect.attempts
        if (n === stale) {
          assert.equal(answers[n]!.kind, 'stale')
          assert.equal(effect.state, 'attempting')
          assert.equal(attempt?.outcome, null)
          continue
        }
        assert.deepEqual(answers[n], { kind: 'settled', version: 3 })
        assert.equal(effect.state, ends[n % ends.length])
        assert.deepEqual(
          [attempt?.correlation, attempt?.status, attempt?.begunAt, attempt?.worker],
          [`req_${n}`, 200 + n, start, alice],
        )
      }
    }),
  )

  it(
    'an attempt of unknown outcome stays open until evidence closes it',
    on(make, async (store) => {
      const effect = await unknownEffect(store)
      assert.equal(effect.state, 'unknown')
      assert.equal(effect.dueAt, start + 60_000)
      assert.deepEqual(
        effect.attempts.map(({ outcome, open }) => ({ outcome, open })),
        [{ outcome: 'unknown', open: true }],
      )
      const { attempt, ...noAnswer } = settlement(
        { effect, attempt: 1 },
        { to: 'confirmed', closeAttempts: true, evidence: found },
      )
      assert.ok(attempt)
      await settled(store, noAnswer)
      const after = await effectOf(store, effect.id)
      assert.deepEqual(
        after.attempts.map(({ outcome, open }) => ({ outcome, open })),
        [{ outcome: 'unknown', open: false }],
      )
      assert.deepEqual(after.evidence, [{ ...found, at: start + 1_000, to: 'confirmed' }])
    }),
  )

  it(
    'a decision on an outdated view writes nothing and is given the present one',
    on(make, async (store) => {
      const work = await begun(store)
      await settled(store, settlement(work, { to: 'unknown', dueAt: start + 60_000 }))
      const answer = await store.settle(
        settlement(work, { to: 'confirmed', evidence: found, alert: { reason: 'x', owner: 'y' } }),
      )
      assert.equal(answer.kind, 'stale')
      const current = await effectOf(store, work.effect.id)
      assert.deepEqual(answer.kind === 'stale' && answer.current, current)
      assert.equal(current.state, 'unknown')
      assert.deepEqual(current.evidence, [])
      assert.equal(alertsOf(await claim(store)).length, 0)
    }),
  )

  it(
    'of settlements of one version that come at once, one is written',
    on(make, async (store, { reopen }) => {
      const other = await reopen()
      const work = await begun(store)
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          (index % 2 === 0 ? store : other).settle(
            settlement(work, { to: index % 3 === 0 ? 'refused' : 'confirmed' }),
          ),
        ),
      )
      assert.equal(answers.filter(({ kind }) => kind === 'settled').length, 1)
      assert.equal((await effectOf(store, work.effect.id)).version, work.effect.version + 1)
    }),
  )

  it(
    'of settlements of one moment each is answered for what it is: an end, an unknown, a stale one, a disputed end',
    on(make, async (store) => {
      const works = [await begun(store), await begun(store), await begun(store), await begun(store)]
      const [ends, unknown, stale, disputed] = works as [Work, Work, Work, Work]
      await settled(store, settlement(stale, { to: 'refused' }))
      const answers = await Promise.all(
        [
          settlement(ends, { to: 'confirmed' }),
          settlement(unknown, { to: 'unknown', dueAt: start + 60_000 }),
          settlement(stale, { to: 'confirmed' }),
          settlement(disputed, { to: 'confirmed', disputed: true, evidence: found }),
        ].map((one) => store.settle(one)),
      )
      assert.deepEqual(
        answers.map(({ kind }) => kind),
        ['settled', 'settled', 'stale', 'settled'],
      )
      const stories = await Promise.all(works.map(({ effect }) => effectOf(store, effect.id)))
      assert.deepEqual(
        stories.map(({ state, version, evidence, disputed: isDisputed }) => [
          state,
          version,
          evidence.length,
          isDisputed,
        ]),
        [
          ['confirmed', 3, 0, false],
          ['unknown', 3, 0, false],
          ['refused', 3, 0, false],
          ['confirmed', 3, 1, true],
        ],
      )
    }),
  )

  it(
    'a late answer of an earlier attempt is written to that attempt, and leaves the later one as it is',
    on(make, async (store) => {
      const unknown = await unknownEffect(store)
      const repeat = await store.beginRepeat({
        effect: unknown.id,
        expectedVersion: unknown.version,
        worker: bob,
        now: start + 70_000,
        leaseMs,
      })
      const late = settlement(
        { effect: repeat!.effect, attempt: 1 },
        {
          to: 'confirmed',
          evidence: { ...found, kind: 'late-answer', fact: 'confirmed', attempt: 1, from: 'attempting' },
        },
      )
      await settled(store, late)
      const { attempts } = await effectOf(store, unknown.id)
      assert.deepEqual(
        attempts.map(({ outcome, open }) => ({ outcome, open })),
        [
          { outcome: 'confirmed', open: false },
          { outcome: null, open: true },
        ],
      )
    }),
  )

  it(
    'an attempt keeps its answer, and what was closed stays closed',
    on(make, async (store) => {
      const work = await begun(store)
      const version = await settled(store, settlement(work, { to: 'confirmed' }))
      const effect = { ...work.effect, version }
      await settled(
        store,
        settlement(
          { effect, attempt: 1 },
          {
            to: 'confirmed',
            at: start + 5_000,
            attempt: {
              number: 1,
              outcome: 'unknown',
              why: 'torn',
              status: null,
              correlation: null,
              retryAfterMs: null,
            },
          },
        ),
      )
      const [kept] = (await effectOf(store, effect.id)).attempts
      assert.deepEqual(
        [kept?.outcome, kept?.why, kept?.open, kept?.endedAt],
        ['confirmed', 'answered confirmed', false, start + 1_000],
      )

      const unknown = await unknownEffect(store)
      const { attempt, ...close } = settlement(
        { effect: unknown, attempt: 1 },
        { to: 'unknown', closeAttempts: true, dueAt: start + 90_000 },
      )
      const closedAt = await settled(store, close)
      await settled(
        store,
        settlement(
          { effect: { ...unknown, version: closedAt }, attempt: 1 },
          { to: 'unknown', dueAt: start + 90_000, ...(attempt && { attempt }) },
        ),
      )
      assert.equal((await effectOf(store, unknown.id)).attempts[0]?.open, false)
    }),
  )

  it(
    'an attempt whose lease had ended ends when its late answer proves nothing, and never earlier than before',
    on(make, async (store) => {
      let effect = await unknownEffect(store)
      const first = effect.attempts[0]!.endedAt!
      for (const [at, ends] of [
        [first + 9_000, first + 9_000],
        [first + 4_000, first + 9_000],
      ] as const) {
        await settled(store, settlement({ effect, attempt: 1 }, { to: 'unknown', at, dueAt: at + 90_000 }))
        effect = await effectOf(store, effect.id)
        assert.equal(effect.attempts[0]?.endedAt, ends)
      }
    }),
  )

  it(
    'what the engine looks at next is moved, kept or taken away',
    on(make, async (store) => {
      const work = await begun(store)
      const keep = settlement(work, {
        to: 'attempting',
        dueAt: 'unchanged',
        evidence: { ...found, fact: 'overtaken', from: 'attempting' },
      })
      const version = await settled(store, keep)
      const kept = await effectOf(store, work.effect.id)
      assert.equal(kept.dueAt, start + leaseMs)
      assert.equal(kept.version, version)
      await store.renew({ worker: alice, effects: [kept.id], now: start + 5_000, leaseMs })
      assert.equal((await effectOf(store, kept.id)).dueAt, start + 5_000 + leaseMs)
      const moved = await settled(
        store,
        settlement({ effect: kept, attempt: 1 }, { to: 'unknown', dueAt: start + 77 }),
      )
      assert.equal((await effectOf(store, kept.id)).dueAt, start + 77)
      await settled(
        store,
        settlement(
          { effect: { ...kept, version: moved }, attempt: 1 },
          { to: 'unknown', dueAt: null, escalated: true },
        ),
      )
      const escalated = await effectOf(store, kept.id)
      assert.equal(escalated.dueAt, null)
      assert.equal(escalated.escalated, true)
      assert.equal((await store.status()).effects.escalated, 1)
    }),
  )

  it(
    'an alert of an effect waits in the outbox',
    on(make, async (store) => {
      const work = await begun(store)
      await settled(
        store,
        settlement(work, {
          to: 'unknown',
          dueAt: null,
          escalated: true,
          alert: { reason: 'escalated', owner: 'billing' },
        }),
      )
      const [record] = alertsOf(await claim(store, start + 1_000))
      assert.deepEqual(
        { ...record?.alert },
        {
          reason: 'escalated',
          owner: 'billing',
          receipt: null,
          quarantine: null,
          effect: work.effect.id,
          occasion: `version/${work.effect.version + 1}`,
          at: start + 1_000,
        },
      )
    }),
  )

  for (const final of effectStates.filter(isFinalState)) {
    it(
      `an effect that is ${final} never moves (I12), and a fact against it marks it disputed`,
      on(make, async (store) => {
        const { id, version } = await plannedEffect(store)
        const to = (state: typeof final, expectedVersion: number) =>
          settlement({ effect: { id, version: expectedVersion } as never, attempt: 1 }, { to: state })
        let at = await settled(store, to(final, version))
        for (const other of effectStates.filter((state) => state !== final)) {
          await rejects(store.settle(to(other as typeof final, at)))
          const { state, version: still } = await effectOf(store, id)
          assert.deepEqual([state, still], [final, at])
        }
        at = await settled(store, { ...to(final, at), disputed: true, evidence: { ...found, from: final } })
        const disputed = await effectOf(store, id)
        assert.deepEqual([disputed.state, disputed.disputed, disputed.version], [final, true, at])
        assert.equal((await store.status()).effects.disputed, 1)
      }),
    )
  }

  it(
    'a settlement that cannot be written fails alone, whatever shares its commit',
    on(make, async (store) => {
      const works = [await begun(store), await begun(store), await begun(store)]
      const calls = [
        store.settle(settlement(works[0]!, { to: 'confirmed' })),
        store.settle({ ...settlement(works[1]!, { to: 'confirmed' }), effect: 'eff_none' as never }),
        store.settle(settlement(works[2]!, { to: 'nowhere' as never })),
        store.settle(settlement(works[1]!, { to: 'refused' })),
      ]
      const results = await Promise.allSettled(calls)
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
      )
      const { byState } = (await store.status()).effects
      assert.deepEqual([byState.confirmed, byState.refused, byState.attempting], [1, 1, 1])
    }),
  )
}
