import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError, type Instant, type ReceiptId } from '../domain/index.ts'
import type { ReceiptQuery, ReceiptStory, ReceiptView } from '../store/index.ts'
import { type Act, auditRow, idUsed } from './decision.ts'
import { authorise, type Operator } from './operator.ts'

export interface ShownReceipt extends ReceiptStory {
  /** What happened to it, oldest first. */
  readonly timeline: readonly { readonly at: Instant; readonly kind: string; readonly text: string }[]
}

export interface ReceiptPage {
  readonly receipts: readonly ReceiptView[]
  /** Where the next page begins; null when there is none. */
  readonly next: ReceiptId | null
}

/** Receipts that one page looks at, at most: what it costs has a limit, whatever the filter leaves over. */
export const receiptReach = 20_000

/** Newest first. A page may be short and still not the last. @throws CounterfoilError `not_authorised` */
export async function listReceipts(
  { store }: Counterfoil,
  operator: Operator,
  query: Omit<ReceiptQuery, 'within'>,
): Promise<ReceiptPage> {
  authorise(operator, 'receipts.list')
  const { before, producer, state, limit } = query
  // What waits is walked by itself, to its end; and without a filter every receipt that is looked at is shown.
  const filters = state === 'planned' || (state === undefined && producer !== undefined)
  const receipts = await store.listReceipts(filters ? { ...query, within: receiptReach } : query)
  if (receipts.length === limit) return { receipts, next: receipts.at(-1)!.id }
  if (!filters) return { receipts, next: null }
  const page = before === undefined ? {} : { before }
  return { receipts, next: await store.endOfWalk({ ...page, within: receiptReach }) }
}

/** One receipt without its payload. @throws CounterfoilError `not_authorised`, `not_found` */
export async function showReceipt(app: Counterfoil, operator: Operator, id: string): Promise<ShownReceipt> {
  authorise(operator, 'receipts.show')
  const story = await storyOf(app, id)
  return { ...story, timeline: timeline(story) }
}

/**
 * The opened payload of a receipt. The read is in the audit log before this promise fulfils.
 *
 * @returns null when retention removed it
 * @throws CounterfoilError `not_authorised`, `not_found`, `decision_*`, `vault_*`
 */
export async function readReceiptPayload(
  app: Counterfoil,
  id: string,
  act: Act,
): Promise<{ readonly contentType: string; readonly payload: Uint8Array } | null> {
  const row = auditRow(act, 'receipts.payload', { subject: id, at: app.clock.now() })
  const { receipt } = await storyOf(app, id)
  const audited = await app.store.audit({ ...row, result: { rawFingerprint: receipt.rawFingerprint } })
  if (audited.kind === 'other') throw idUsed(audited.existing)
  const payload = await app.readPayload(receipt)
  return payload === null ? null : { contentType: receipt.contentType, payload }
}

function timeline({ receipt, quarantine, effects }: ReceiptStory): ShownReceipt['timeline'] {
  const lines: { at: Instant; kind: string; text: string }[] = []
  const say = (at: Instant | null, kind: string, text: string) => {
    if (at !== null) lines.push({ at, kind, text })
  }
  say(receipt.eventAt, 'event', `${receipt.type} happened, says ${receipt.producer}`)
  say(
    receipt.receivedAt,
    'received',
    `${receipt.waived === 'signature' ? 'accepted unverified' : 'verified and accepted'} as ${receipt.origin} delivery ${receipt.eventId}`,
  )
  say(
    quarantine?.at ?? null,
    'quarantine',
    `to quarantine: ${quarantine?.reason}, owner ${quarantine?.owner}`,
  )
  say(
    receipt.plannedAt,
    'planned',
    `planned by configuration ${receipt.plannedBy}: ${effects.length === 1 ? '1 effect' : `${effects.length} effects`}`,
  )
  say(receipt.lastDuplicateAt, 'duplicate', `came again, ${receipt.duplicates} times in all; nothing changed`)
  return lines.sort((one, other) => one.at - other.at)
}

async function storyOf(app: Counterfoil, id: string): Promise<ReceiptStory> {
  const story = await app.store.showReceipt(id)
  if (story !== null) return story
  throw new CounterfoilError('not_found', `There is no receipt '${id.slice(0, 100)}'.`, {
    hint: 'List them: counterfoil receipts list',
  })
}
