import { describe } from 'node:test'
import { accepting } from './conformance/accepting.ts'
import { acceptingTogether } from './conformance/accepting-together.ts'
import { attempts } from './conformance/attempts.ts'
import { auditing } from './conformance/auditing.ts'
import { backfilling } from './conformance/backfilling.ts'
import type { MakeStore } from './conformance/given.ts'
import { inTurn } from './conformance/in-turn.ts'
import { lifetime } from './conformance/lifetime.ts'
import { limiting } from './conformance/limiting.ts'
import { model } from './conformance/model.ts'
import { operating } from './conformance/operating.ts'
import { outbox } from './conformance/outbox.ts'
import { planning } from './conformance/planning.ts'
import { quarantined } from './conformance/quarantine.ts'
import { reading } from './conformance/reading.ts'
import { retaining } from './conformance/retaining.ts'
import { sessions } from './conformance/sessions.ts'
import { settling } from './conformance/settling.ts'

export type { MakeStore, StoreUnderTest } from './conformance/given.ts'

/**
 * What the store port means, as tests: every store passes them.
 *
 * @example
 * conformance('sqlite', async () => ({ store, reopen, dispose }))
 */
export function conformance(name: string, makeStore: MakeStore): void {
  describe(name, () => {
    describe('accept', () => accepting(makeStore))
    describe('acceptAll', () => acceptingTogether(makeStore))
    describe('outbox', () => outbox(makeStore))
    describe('plan', () => planning(makeStore))
    describe('plan session', () => sessions(makeStore))
    describe('attempt', () => attempts(makeStore))
    describe('limits', () => limiting(makeStore))
    describe('in turn', () => inTurn(makeStore))
    describe('settle', () => settling(makeStore))
    describe('read', () => reading(makeStore))
    describe('quarantine', () => quarantined(makeStore))
    describe('retention', () => retaining(makeStore))
    describe('audit', () => auditing(makeStore))
    describe('backfill', () => backfilling(makeStore))
    describe('operate', () => operating(makeStore))
    describe('open and close', () => lifetime(makeStore))
    describe('model', () => model(makeStore))
  })
}
