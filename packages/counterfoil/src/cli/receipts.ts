import { CounterfoilError } from '../domain/index.ts'
import { type Command, exit } from './command.ts'
import { table, time } from './print.ts'
import { oneName, pageOf, pageOptions, reading } from './reading.ts'

export const receiptsList: Command = {
  name: 'receipts list',
  summary: 'Receipts, newest first',
  usage:
    'counterfoil receipts list [--producer NAME] [--state accepted|planned|quarantined] [--limit N] [--before ID]',
  example: 'counterfoil receipts list --producer github --limit 20',
  options: { ...pageOptions, producer: { type: 'string' }, state: { type: 'string' } },
  run: reading(async (store, { options, out }) => {
    const { producer, state } = options
    const receipts = await store.listReceipts({
      ...pageOf(options),
      ...(typeof producer === 'string' ? { producer } : {}),
      ...(typeof state === 'string'
        ? { state: oneOf('--state', state, ['accepted', 'planned', 'quarantined']) }
        : {}),
    })
    out.json({ receipts })
    const rows = receipts.map((r) => [
      r.id,
      time(r.receivedAt),
      r.producer,
      r.type,
      r.eventId,
      r.state,
      String(r.duplicates),
    ])
    for (const line of table([
      ['RECEIPT', 'RECEIVED', 'PRODUCER', 'TYPE', 'EVENT', 'STATE', 'DUPLICATES'],
      ...rows,
    ]))
      out.line(line)
    return exit.done
  }),
}

export const receiptsShow: Command = {
  name: 'receipts show',
  summary: 'One receipt with its evidence and its effects',
  usage: 'counterfoil receipts show RECEIPT',
  example: 'counterfoil receipts show rcp_01KBDZ3V6Q0000000000000000',
  run: reading(async (store, invocation) => {
    const id = oneName(invocation, 'a receipt id')
    const story = await store.showReceipt(id)
    if (story === null)
      throw new CounterfoilError('not_found', `There is no receipt '${id}'.`, {
        hint: 'List them: counterfoil receipts list',
      })
    const { out } = invocation
    out.json(story)
    const { receipt, quarantine, effects } = story
    out.line(`${receipt.id}  ${receipt.state}`)
    out.line(
      `  ${receipt.type} ${receipt.eventId} of ${receipt.producer}, source ${receipt.source}, ${receipt.origin}`,
    )
    out.line(
      `  received ${time(receipt.receivedAt)}${receipt.eventAt === null ? '' : `, happened ${time(receipt.eventAt)}`}`,
    )
    out.line(`  fingerprint ${receipt.fingerprint}`)
    out.line(`  raw bytes   ${receipt.rawFingerprint} (${receipt.bytes} bytes, ${receipt.contentType})`)
    out.line(
      `  id and type ${receipt.provenance === 'signed' ? 'are covered by the signature' : 'are not covered by the signature'}`,
    )
    if (receipt.waived !== null) {
      out.line(`  its ${receipt.waived} was not checked: the approval of ${receipt.origin} stands for it`)
    }
    out.line(
      `  duplicates  ${receipt.duplicates}${receipt.lastDuplicateAt === null ? '' : `, the last ${time(receipt.lastDuplicateAt)}`}`,
    )
    if (receipt.conflictsWith !== null)
      out.line(`  conflicts with ${receipt.conflictsWith}: the same id with other content`)
    if (receipt.sameContentAs !== null)
      out.line(`  same content as ${receipt.sameContentAs}, under another id`)
    if (receipt.plannedAt !== null)
      out.line(`  planned ${time(receipt.plannedAt)} by configuration ${receipt.plannedBy}`)
    if (quarantine !== null)
      out.line(
        `  quarantine ${quarantine.id}: ${quarantine.reason}, ${quarantine.state}, owner ${quarantine.owner}`,
      )
    for (const effect of effects)
      out.line(`  effect ${effect.id} ${effect.state}  ${effect.recipient}  ${effect.key}`)
    return exit.done
  }),
}

export function oneOf<const Choice extends string>(
  option: string,
  given: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === given)
  if (choice === undefined) {
    throw new CounterfoilError('usage_invalid', `${option} '${given}' is none of: ${choices.join(', ')}.`)
  }
  return choice
}
