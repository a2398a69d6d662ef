import {
  CounterfoilError,
  type QuarantineId,
  type ReceivedEvent,
  timeOrderedId,
  type WorkerId,
} from '../domain/index.ts'
import { type OutboxRecord, type QuarantineReason, type ReceiptView, suspect } from '../store/index.ts'
import { type AlertSettings, handOnAlert } from './alert.ts'
import { describe } from './failure-text.ts'
import { HeldRecords } from './held-records.ts'
import { passes, patiently } from './patience.ts'
import { type PlannerPorts, type PlannerSettings, type PlanWork, planEvent } from './planner.ts'

/** Most events held in memory between their receipt and their plan; the rest waits in the outbox. */
export const maxHeld = 1_024
/** A record that ended so many processes, all but `suspect` of them while it was planned alone, is given up. */
export const maxLost = 5
const claimLimit = 256

/** Opens a stored payload with today's schemas. */
export type OpenEvent = (
  receipt: ReceiptView,
  payload: Uint8Array,
) => Promise<
  | { readonly kind: 'event'; readonly event: ReceivedEvent }
  | {
      readonly kind: 'quarantine'
      readonly reason: QuarantineReason
      readonly detail: Readonly<Record<string, unknown>>
    }
>

export interface RelaySettings extends PlannerSettings, AlertSettings {
  readonly worker: WorkerId
  readonly leaseMs: number
  readonly openEvent: OpenEvent
  /** Effects of these recipients are due. */
  readonly onPlanned: (recipients: readonly string[]) => void
}

/**
 * Reads committed outbox records and hands them on. It may hand one on twice; the plan's transaction
 * consumes it once. Intake hands over what it just accepted in memory: an optimisation that a crash undoes
 * without loss, because the record is durable and merely leased.
 */
export class Relay {
  readonly #ports: PlannerPorts
  readonly #settings: RelaySettings
  readonly #held: HeldRecords
  #reserved = 0
  #claiming = false
  /** A hint came during the claim: it may be about what the claim was too early for. */
  #again = false
  /** The last claim was full: more waits in the store. */
  #more = false
  #stopped = true
  #idle: (() => void)[] = []

  constructor(ports: PlannerPorts, settings: RelaySettings) {
    this.#ports = ports
    this.#settings = settings
    const { worker, leaseMs } = settings
    this.#held = new HeldRecords(ports, { worker, leaseMs, onDone: () => this.#handedOn() })
  }

  start(): void {
    this.#stopped = false
  }

  /** Finishes what is in work; what is only held stays in the outbox for the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#held.drop()
    if (this.#held.inWork > 0 || this.#claiming)
      await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Room for one event that is about to be accepted, or null when it should wait in the outbox. */
  reserve(): { worker: WorkerId; leaseMs: number } | null {
    if (this.#stopped || this.#held.waiting + this.#reserved >= maxHeld) return null
    this.#reserved++
    return { worker: this.#settings.worker, leaseMs: this.#settings.leaseMs }
  }

  release(): void {
    this.#reserved--
  }

  deliver(work: Omit<PlanWork, 'tries'>): void {
    this.#reserved--
    if (this.#stopped) return
    this.#held.hold({ outbox: work.outbox, alone: false, handOn: () => this.#plan({ ...work, tries: 0 }) })
  }

  /** Looks for records whose time has come: the truth behind every hint. */
  async poll(): Promise<void> {
    if (this.#claiming) this.#again = true
    if (this.#stopped || this.#claiming || this.#held.waiting > maxHeld / 2) return
    this.#claiming = true
    this.#again = false
    try {
      const { worker, leaseMs } = this.#settings
      const records = await this.#ports.store.claimOutbox({
        worker,
        now: this.#ports.clock.now(),
        leaseMs,
        limit: claimLimit,
      })
      if (this.#stopped) return
      for (const record of suspectsLast(records)) {
        const handOn = () => this.#handOn(record)
        this.#held.hold({ outbox: record.outbox, alone: isSuspect(record), handOn })
      }
      this.#more = records.length === claimLimit
    } catch (error) {
      const level = passes(error) ? 'warn' : 'error'
      this.#ports.log(level, 'the outbox could not be read; it is read again', {
        error: describe(error),
      })
    } finally {
      this.#claiming = false
      this.#wakeStop()
    }
    if (this.#again) await this.poll()
  }

  #handedOn(): void {
    // Refilled before it runs dry: a backlog is worked off at the pace of the plans, not of the poll.
    if (this.#more && !this.#claiming && this.#held.waiting < claimLimit) void this.poll()
    this.#wakeStop()
  }

  #wakeStop(): void {
    if (this.#held.inWork > 0 || this.#claiming) return
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #handOn(record: OutboxRecord): Promise<void> {
    if (record.kind === 'alert') {
      const { alertTo: delivery, onPlanned } = this.#settings
      const planned = await handOnAlert(this.#ports, this.#settings, record)
      if (planned && delivery !== null) onPlanned([delivery.effect.recipient.name])
      return
    }
    const { receipt, outbox, tries, lost } = record
    if (lost >= maxLost) {
      const error = describe(new CounterfoilError('plan_lost', `${lost} processes ended over this plan.`))
      const about = { receipt: receipt.id, lost }
      this.#ports.log('error', 'a plan ends its processes; its receipt is in quarantine', about)
      await this.#quarantine(outbox, receipt, 'plan-failed', { error, tries: tries + lost })
      return
    }
    const { worker } = this.#settings
    if (isSuspect(record) && (await this.#ports.store.tryAlone({ worker, outbox })) === undefined) return
    const opened = await this.#settings.openEvent(receipt, this.#ports.vault.open(record.payload, receipt.id))
    if (opened.kind === 'event') {
      await this.#plan({ outbox, tries, event: opened.event, trace: receipt.trace })
      return
    }
    await this.#quarantine(outbox, receipt, opened.reason, opened.detail)
  }

  async #plan(work: PlanWork): Promise<void> {
    const due = await planEvent(this.#ports, this.#settings, work)
    if (due.length > 0) this.#settings.onPlanned(due)
  }

  async #quarantine(
    outbox: number,
    receipt: ReceiptView,
    reason: QuarantineReason,
    detail: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const at = this.#ports.clock.now()
    const id = timeOrderedId<QuarantineId>('qua', at, this.#ports.random.bytes(10))
    const quarantine = { id, reason, detail, owner: this.#settings.ownerOf(receipt.producer, receipt.type) }
    await patiently(this.#ports, 'quarantine', () =>
      this.#ports.store.quarantinePlan({ outbox, receipt: receipt.id, quarantine, at }),
    )
  }
}

/** Planned alone, it shows whether it was what ended its processes, and takes nothing else along. */
function isSuspect(record: OutboxRecord): boolean {
  return record.kind === 'plan' && record.lost >= suspect
}

/** Whatever still does harm comes after all that does not. */
function suspectsLast(records: readonly OutboxRecord[]): readonly OutboxRecord[] {
  if (!records.some(isSuspect)) return records
  const lost = (record: OutboxRecord) => (record.kind === 'plan' ? Math.max(record.lost, 1) : 0)
  return records.toSorted((a, b) => lost(a) - lost(b))
}
