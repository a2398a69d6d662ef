import type {
  DeliveryDigest,
  EffectId,
  EffectKey,
  EffectState,
  Fact,
  Fingerprint,
  IdempotencyKey,
  Instant,
  QuarantineId,
  ReceiptId,
  TraceParent,
} from '../domain/index.ts'

/** The words that stores, engine and operators share. Plain data: every value survives a structured clone. */

/** Why an authentic delivery cannot start work. A closed set; immutable once written (design.md section 3, Intake). */
export const quarantineReasons = [
  'unsupported-type',
  'schema-failure',
  'not-representable',
  'identity-conflict',
  'effect-conflict',
  'plan-failed',
  'beyond-retention',
] as const
export type QuarantineReason = (typeof quarantineReasons)[number]

/**
 * `waiting`: for an operator. `released`: its receipt is back in the outbox, or planned since. `dismissed`: it
 * never starts work.
 */
export const quarantineStates = ['waiting', 'released', 'dismissed'] as const
export type QuarantineState = (typeof quarantineStates)[number]

/** A payload under AES-256-GCM; the tag stands at the end of `ciphertext`. */
export interface Sealed {
  readonly keyId: string
  readonly nonce: Uint8Array
  readonly ciphertext: Uint8Array
}

export interface ReceiptRecord {
  readonly id: ReceiptId
  /** Digest of (namespace, source, eventId): "is this the same event?" */
  readonly delivery: DeliveryDigest
  readonly producer: string
  readonly namespace: string
  readonly source: string
  readonly eventId: string
  readonly type: string
  readonly schemaVersion: string | null
  readonly fingerprint: Fingerprint
  readonly rawFingerprint: Fingerprint
  readonly contentType: string
  readonly bytes: number
  /** `unsigned`: the signature does not cover id and type, so the content is compared too. */
  readonly provenance: 'signed' | 'unsigned'
  /** `live`, or `backfill/NAME`. */
  readonly origin: string
  /**
   * What was not checked because an operator's approval of its backfill stands for it: the age of its signature, or
   * the signature itself. Null: nothing.
   */
  readonly waived: 'freshness' | 'signature' | null
  /** When the producer says that the event happened. */
  readonly eventAt: Instant | null
  readonly receivedAt: Instant
  /** The span that wrote it, which its plan goes on from; null where nothing is traced. */
  readonly trace: TraceParent | null
}

export type ReceiptState = 'accepted' | 'planned' | 'quarantined'

export interface ReceiptView extends ReceiptRecord {
  readonly state: ReceiptState
  /** Where the sealed payload is kept. */
  readonly vault: string
  readonly duplicates: number
  readonly lastDuplicateAt: Instant | null
  /** The first receipt with this identity, whose content differs. */
  readonly conflictsWith: ReceiptId | null
  /** The first receipt of this producer with the same content under another id. */
  readonly sameContentAs: ReceiptId | null
  readonly plannedAt: Instant | null
  /** The configuration's `version` that planned it. */
  readonly plannedBy: string | null
}

export interface QuarantineView {
  readonly id: QuarantineId
  readonly receipt: ReceiptId
  /** Why it came here first; later faults are notes. */
  readonly reason: QuarantineReason
  /** Everything an owner needs to see, and no payload: faults with their paths, fingerprints, an error code. */
  readonly detail: Readonly<Record<string, unknown>>
  readonly owner: string
  readonly vault: string
  readonly at: Instant
  readonly producer: string
  readonly type: string
  readonly eventId: string
  readonly state: QuarantineState
  /** Rises with every change; a decision names the version it was made on. */
  readonly version: number
  /** The operator who looks after it; null for nobody. */
  readonly assignee: string | null
  /** When its owner was last alerted, or an operator last decided on it. */
  readonly attendedAt: Instant
  /** Number of the last audit row when it last changed: what changed since a given row has that or a later one. */
  readonly changedAfter: number
}

/** What was learned of a quarantine entry after its reason: why it could not start work once more. */
export interface QuarantineNote {
  readonly at: Instant
  readonly reason: QuarantineReason
  readonly detail: Readonly<Record<string, unknown>>
  /** `engine`, or the operator's name. */
  readonly by: string
}

/** From the least to the most. */
export const operatorRoles = ['viewer', 'operator', 'approver'] as const
export type OperatorRole = (typeof operatorRoles)[number]

/** What an operator did, before it is chained. */
export interface NewAudit {
  readonly at: Instant
  readonly operator: string
  readonly role: OperatorRole
  /** Such as `quarantine.dismiss`. */
  readonly act: string
  /** What it was done to: an id, or a filter. */
  readonly subject: string
  /** Makes it idempotent: one row for each. */
  readonly decision: string
  /** The operator's own words. */
  readonly reason: string
  /** What was asked, beyond the subject; no payload and no secret. */
  readonly detail: Readonly<Record<string, unknown>>
}

/** A row of the append-only audit log; `domain/audit-chain.ts` says what the digest covers. */
export interface AuditRecord extends NewAudit {
  readonly number: number
  /** What came of it. */
  readonly result: Readonly<Record<string, unknown>>
  /** Hexadecimal SHA-256 over this row and the digest of the row before. */
  readonly digest: string
}

/** A place in an ordering domain. Versions compare as integers. */
export interface Order {
  readonly domain: string
  readonly version: number
}

export type AttemptOutcome = 'confirmed' | 'refused' | 'fenced' | 'notActed' | 'unknown'

export interface AttemptRecord {
  readonly number: number
  readonly begunAt: Instant
  readonly endedAt: Instant | null
  /** Null while in flight. `unknown` when its lease ran out or its answer proved nothing. */
  readonly outcome: AttemptOutcome | null
  /** False once evidence shows that this attempt has acted or never will: nothing more can come of it. */
  readonly open: boolean
  readonly why: string | null
  readonly status: number | null
  readonly correlation: string | null
  readonly retryAfterMs: number | null
  readonly worker: string
}

/** What was learned of an effect apart from the first answer of its attempts: lookups, leases, late answers, operators. */
export interface EvidenceRecord {
  readonly at: Instant
  readonly kind: 'lookup' | 'tombstone' | 'lease' | 'acceptance' | 'late-answer' | 'operator' | 'escalation'
  readonly fact: Fact
  readonly attempt: number | null
  readonly from: EffectState
  readonly to: EffectState
  readonly why: string
  readonly status: number | null
  readonly correlation: string | null
  /** `engine`, or the operator's name. */
  readonly by: string
}

export interface EffectRecord {
  readonly id: EffectId
  readonly recipient: string
  readonly key: EffectKey
  /** The effect's kind, such as `seat.open`. */
  readonly name: string
  readonly fingerprint: Fingerprint
  readonly idempotencyKey: IdempotencyKey
  readonly order: Order | null
  readonly plannedAt: Instant
  /** The span that planned it, which attempts and lookups go on from; null where nothing is traced. */
  readonly trace: TraceParent | null
}

export interface EffectView extends EffectRecord {
  readonly state: EffectState
  /** Rises with every change; a decision names the version it was made on. */
  readonly version: number
  readonly disputed: boolean
  /** Waits for a person: the engine has nothing more that the contract allows. */
  readonly escalated: boolean
  readonly changedAt: Instant
  /** When the engine looks again; null when it has nothing to do. */
  readonly dueAt: Instant | null
  readonly attempts: readonly AttemptRecord[]
  readonly evidence: readonly EvidenceRecord[]
}

export interface CauseView {
  readonly receipt: ReceiptId
  readonly producer: string
  readonly eventId: string
  readonly type: string
  readonly trigger: string
  readonly at: Instant
}

/** A record that was lost so often is planned alone, so that from then on it is known what ends its processes. */
export const suspect = 2
