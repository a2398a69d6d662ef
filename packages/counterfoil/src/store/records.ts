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
} from '../domain/index.ts'

/** The words that stores, engine and operators share. Plain data: every value survives a structured clone. */

/** Why an authentic delivery cannot start work. A closed set; immutable once written (design.md section 3, Intake). */
export type QuarantineReason =
  | 'unsupported-type'
  | 'schema-failure'
  | 'not-representable'
  | 'identity-conflict'
  | 'effect-conflict'
  | 'plan-failed'

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
  /** When the producer says that the event happened. */
  readonly eventAt: Instant | null
  readonly receivedAt: Instant
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
  readonly reason: QuarantineReason
  /** Everything an owner needs to see, and no payload: faults with their paths, fingerprints, an error code. */
  readonly detail: Readonly<Record<string, unknown>>
  readonly owner: string
  readonly vault: string
  readonly at: Instant
  readonly producer: string
  readonly type: string
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
