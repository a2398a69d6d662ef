import type { Clock } from '../../domain/index.ts'
import type { Acceptance, BackfillSource } from '../../store/index.ts'
import { type AcceptancePorts, acceptance } from '../acceptance.ts'
import type { Gate } from '../gate.ts'
import type { Interpreted, InterpretPorts } from '../interpret.ts'
import type { EventTypes } from '../producer.ts'
import { type BackfillItem, headerRoom, type ListEvents, type Place } from './item.ts'
import { type ReadItem, readItem } from './read-item.ts'
import { readSource } from './read-source.ts'

export interface BackfillPorts extends AcceptancePorts, InterpretPorts {
  readonly types: EventTypes
  readonly clock: Clock
}

/** One backfill on its way through intake: the same boundary that live deliveries pass. */
export interface BackfillIntake {
  /** @throws CounterfoilError `backfill_unreadable` */
  items(from: Place): AsyncGenerator<BackfillItem>
  read(item: BackfillItem): Promise<ReadItem>
  /** What the store is asked to take in. */
  acceptance(event: Interpreted): Acceptance
}

export function backfillIntake(
  ports: BackfillPorts,
  gate: Gate,
  about: { readonly name: string; readonly source: BackfillSource; readonly list: ListEvents | null },
): BackfillIntake {
  const { name, source, list } = about
  const maxBytes = gate.producer.maxBytes + headerRoom
  const provenance = { source: source.kind, origin: `backfill/${name}` }
  return {
    items: (from) => readSource(source, list, { from, maxBytes }),
    read: (item) => readItem(ports, gate, provenance, item),
    // Nobody holds it in memory: it waits in the store, behind what is live.
    acceptance: ({ receipt, body, fit }) => acceptance(ports, receipt, body, fit, null),
  }
}
