import { type QuarantineId, type Random, timeOrderedId, type WorkerId } from '../domain/index.ts'
import type { Acceptance, ReceiptRecord, Vault } from '../store/index.ts'
import type { Fit } from './event.ts'

export interface AcceptancePorts {
  readonly vault: Pick<Vault, 'seal'>
  readonly random: Random
  /** Who looks after a quarantine entry of this producer and type. */
  readonly ownerOf: (producer: string, type: string) => string
}

/**
 * What one event asks of the store, wherever it came from.
 *
 * @param lease of the outbox record, when somebody already holds the event in memory
 */
export function acceptance(
  ports: AcceptancePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  fit: Fit,
  lease: { readonly worker: WorkerId; readonly leaseMs: number } | null,
): Acceptance {
  const owner = ports.ownerOf(receipt.producer, receipt.type)
  const entry = () => ({
    id: timeOrderedId<QuarantineId>('qua', receipt.receivedAt, ports.random.bytes(10)),
    owner,
  })
  return {
    receipt,
    payload: ports.vault.seal(body, receipt.id),
    next:
      fit.kind === 'fits'
        ? { kind: 'plan', handOff: lease }
        : { kind: 'quarantine', quarantine: { ...entry(), reason: fit.reason, detail: fit.detail } },
    onConflict: entry(),
    // A sender is told; what a backfill brings waits for a person.
    ...(receipt.origin === 'live' ? {} : { beyond: 'quarantined' as const }),
  }
}
