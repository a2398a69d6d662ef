import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { DeliveryQuestion } from '../backfills.ts'
import { BeyondRetention } from '../beyond.ts'
import type { Marking } from '../marking.ts'
import type { Planned } from '../store.ts'
import { Accept } from './accept.ts'
import { AuditLog } from './audit.ts'
import { Backfills } from './backfill.ts'
import { Counts } from './counts.ts'
import { examine } from './doctor.ts'
import { Due } from './due.ts'
import { EffectDecide } from './effect-decide.ts'
import { EffectMoves } from './effect-moves.ts'
import { Erase } from './erase.ts'
import { Forget } from './forget.ts'
import { Markers } from './markers.ts'
import { Outbox } from './outbox.ts'
import { Pace } from './pace.ts'
import type { PackedAcceptance } from './packing.ts'
import { Planning } from './plan.ts'
import { Quarantine } from './quarantine.ts'
import { QuarantineDecide } from './quarantine-decide.ts'
import { QuarantineList } from './quarantine-list.ts'
import { Reading } from './read.ts'
import { Search } from './search.ts'
import { Settle } from './settle.ts'
import { steady } from './steady.ts'
import { Survey } from './survey.ts'
import { TriggerStatements } from './trigger-statements.ts'

/** A connection and every statement prepared on it. */
export interface Connection {
  readonly db: DatabaseSync
  /** Around every batch of calls: prepared, where `exec` would parse each time. */
  readonly transaction: Readonly<Record<'read' | 'write' | 'commit', StatementSync>>
  readonly counts: Counts
  readonly planning: Planning
  readonly triggerStatements: TriggerStatements
  readonly markers: Markers
  /** The port's calls, by name; each runs in the transaction that is open. */
  readonly calls: Readonly<Record<string, (argument: any, block: Uint8Array) => unknown>>
}

/** @throws what SQLite throws when the schema is not there */
export function prepare(opened: DatabaseSync, marking?: Marking): Connection {
  const triggerStatements = new TriggerStatements(opened)
  const db = steady(opened)
  const counts = new Counts(db)
  const quarantine = new Quarantine(db, counts)
  const markers = new Markers(db, marking)
  const accept = new Accept(db, quarantine, markers, counts)
  const outbox = new Outbox(db, quarantine, counts)
  const planning = new Planning(db, outbox, markers, counts)
  const entries = new QuarantineList(db)
  const audit = new AuditLog(db)
  const decide = new QuarantineDecide(db, audit, quarantine, outbox, counts)
  const backfills = new Backfills(db, accept, audit)
  const reading = new Reading(db, entries, counts)
  const moves = new EffectMoves(db, counts)
  const due = new Due(db, reading, moves, new Pace(db))
  const settle = new Settle(db, reading, moves, quarantine)
  const forget = new Forget(db, markers, counts)
  const erase = new Erase(db, audit)
  const decideEffect = new EffectDecide(audit, reading, moves, settle)
  const search = new Search(db, reading)
  const survey = new Survey(db)
  return {
    db: opened,
    transaction: {
      read: db.prepare('begin'),
      write: db.prepare('begin immediate'),
      commit: db.prepare('commit'),
    },
    counts,
    planning,
    triggerStatements,
    markers,
    calls: {
      accept: (packed: PackedAcceptance, block) => accept.accept(packed, block),
      acceptAll: (packed: readonly PackedAcceptance[], block) =>
        packed.map((one) => {
          const answer = accept.accept(one, block)
          if (answer.outcome === 'beyond') throw new BeyondRetention(answer.boundary)
          return answer
        }),
      claimOutbox: (claim) => outbox.claim(claim),
      tryAlone: (record) => outbox.tryAlone(record),
      renewOutbox: (renewal) => outbox.renew(renewal),
      plan: (plan): Planned => planning.plan(plan, () => {}),
      postponePlan: (record) => outbox.postpone(record),
      quarantinePlan: (record) => outbox.giveUp(record),
      consumeAlert: (record) => void outbox.consumeAlert(record),
      planAlert: (plan) => planning.planAlert(plan),
      alertUnattended: (about) => quarantine.alertUnattended(about),
      takeDue: (claim) => due.takeDue(claim),
      beginRepeat: (repeat) => due.beginRepeat(repeat),
      renew: (renewal) => due.renew(renewal),
      settle: (settlement) => settle.settle(settlement),
      status: () => reading.status(),
      // Every receipt that is merely accepted has its outbox record.
      backlog: () => counts.read().get('receipts.accepted') ?? 0,
      listReceipts: (query) => reading.listReceipts(query),
      endOfWalk: (page) => reading.endOfWalk(page),
      showReceipt: (id) => reading.showReceipt(id),
      listEffects: (query) => reading.listEffects(query),
      endOfEffects: (query) => reading.endOfEffects(query),
      showEffects: (name) => reading.showEffects(name),
      listQuarantine: (query) => entries.list(query),
      showQuarantine: (id) => entries.show(id),
      decideQuarantine: (decision) => decide.decide(decision),
      audit: (entry) => audit.audit(entry),
      listAudit: (query) => audit.list(query),
      decideEffect: (decision) => decideEffect.decide(decision),
      readVault: (ref) => reading.readVault(ref),
      knownDeliveries: (questions: readonly DeliveryQuestion[]) => questions.map((one) => accept.known(one)),
      planBackfill: (backfill) => backfills.plan(backfill),
      decideBackfill: (decision) => backfills.decide(decision),
      leaseBackfill: (lease) => backfills.lease(lease),
      acceptChunk: (chunk, block) => backfills.acceptChunk(chunk, block),
      leaveBackfill: (leave) => backfills.leave(leave),
      listBackfills: () => backfills.list(),
      showBackfill: (name) => backfills.show(name),
      backfillChunks: (query) => backfills.chunks(query),
      forget: (batch) => forget.forget(batch),
      erase: (erasure) => erase.erase(erasure),
      retention: () => forget.state(),
      readMarkerKey: () => markers.readKey(),
      writeMarkerKey: (kept) => markers.writeKey(kept),
      readRequest: (effect) => reading.readRequest(effect),
      listEffectsByKey: (query) => search.effectsByKey(query),
      search: (query) => search.search(query),
      survey: (query) => survey.survey(query),
      keepSample: (sample) => survey.keepSample(sample),
      probe: (at) => survey.probe(at),
      examine: ({ path, now }) => examine(opened, path, now),
      listSamples: (since) => survey.listSamples(since),
    },
  }
}
