import { type QuarantineId, type Random, timeOrderedId } from '../domain/index.ts'
import type { Acceptance, ReceiptRecord, Vault } from '../store/index.ts'
import type { Fit } from './event.ts'

export interface AcceptancePorts {
  readonly vault: Pick<Vault, 'seal'>
  readonly random: Random
  /** Who looks after a quarantine entry of this producer and type. */
  readonly ownerOf: (producer: string, type: string) => string
}

/** What one event asks of the store, wherever it came from. Its outbox record, if it gets one, is nobody's yet. */
export function acceptance(
  ports: AcceptancePorts,
  receipt: ReceiptRecord,
  body: Uint8Array,
  fit: Fit,
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
        ? { kind: 'plan', handOff: null }
        : { kind: 'quarantine', quarantine: { ...entry(), reason: fit.reason, detail: fit.detail } },
    onConflict: entry(),
  }
}
