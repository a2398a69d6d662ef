import type { Counterfoil } from '../counterfoil.ts'
import { codeOf, type ErrorCode } from '../domain/index.ts'
import type { EventType } from '../intake/index.ts'
import {
  contractInWords,
  retentionHorizons,
  type UnsupportedType,
  unsupportedTypes,
} from '../operate/index.ts'
import { placeOf, type Recipient } from '../recipients/index.ts'
import { type Command, exit, type Output } from './command.ts'
import { printHorizons } from './retention.ts'

export const check: Command = {
  name: 'check',
  summary: 'Check the configuration and print, in words, what the engine does at each recipient',
  usage: 'counterfoil check [--config FILE]',
  example: 'counterfoil check --config counterfoil.config.ts',
  async run({ app, out }) {
    const config = await app()
    const { producers, triggers, recipients, store, owner, operators, alerts } = config
    const horizons = retentionHorizons(config)
    const seen = await seenInQuarantine(store, triggers)
    const alertsTo = deliveryOf(alerts)
    out.json({
      store: { kind: store.kind, location: store.location },
      producers: [...producers.values()].map((producer) => ({
        name: producer.name,
        kind: producer.kind.kind,
        provenance: producer.kind.provenance,
        contentTypes: producer.kind.contentTypes,
        retryHorizon: producer.kind.retryHorizon,
        maxBytes: producer.maxBytes,
        owner: producer.owner ?? owner,
        approved: producer.kind.approved ?? [],
        types: typesOf(producer.name),
      })),
      triggers: triggers.map((trigger) => ({
        name: trigger.name,
        on: trigger.on.map((on) => `${on.producer.name} ${on.type}`),
      })),
      recipients: [...recipients.values()].map((recipient) => ({
        name: recipient.name,
        url: placeOf(recipient),
        bodies: bodiesOf(recipient),
        contract: recipient.contract,
        inWords: contractInWords(recipient.contract),
      })),
      operators: operators.map(({ name, role, token }) => ({ name, role, hasToken: token !== undefined })),
      alerts: { to: alertsTo, unattended: alerts.unattended ?? null },
      retention: horizons,
      quarantine: seen,
    })
    out.line(`store: ${store.kind} at ${store.location}`)
    for (const producer of producers.values()) {
      out.line()
      out.line(
        `producer ${producer.name} (${producer.kind.kind}), owner ${producer.owner ?? owner}, bodies up to ${producer.maxBytes} bytes`,
      )
      out.line(
        `  id and type ${producer.kind.provenance === 'signed' ? 'are signed' : 'are not signed: the content is compared too'}`,
      )
      out.line(`  types: ${typesOf(producer.name).join(', ') || 'none: everything goes to quarantine'}`)
      const { approved = [] } = producer.kind
      if (approved.length > 0) out.line(`  an operator approves each: ${approved.join(', ')}`)
    }
    for (const recipient of recipients.values()) {
      out.line()
      out.line(`recipient ${recipient.name} at ${placeOf(recipient)}`)
      const bodies = bodiesOf(recipient)
      if (bodies.length > 0) out.line(`  Bodies may come by reference from: ${bodies.join(', ')}.`)
      for (const sentence of contractInWords(recipient.contract)) out.line(`  ${sentence}`)
    }
    printHorizons(horizons, out)
    printUnsupported(seen, out)
    printAlerts(alerts, out)
    for (const { name, role, token } of operators) {
      out.line(`operator ${name}: ${role}${token === undefined ? ', at the command line only' : ''}`)
    }
    return exit.done

    function typesOf(producer: string): string[] {
      const on = triggers.flatMap((trigger) => trigger.on).filter((type) => type.producer.name === producer)
      return [...new Set(on.map((type) => type.type))]
    }
  },
}

/** What the store knows of events that no trigger supports, or why it was not asked: there may be none yet. */
type Seen = { readonly unsupported: readonly UnsupportedType[] } | { readonly notRead: ErrorCode }

async function seenInQuarantine(
  store: Counterfoil['store'],
  triggers: Counterfoil['triggers'],
): Promise<Seen> {
  try {
    await store.open({ migrate: false })
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    return { notRead: code }
  }
  try {
    const subscribed = triggers.flatMap((trigger) => trigger.on as readonly EventType[])
    return { unsupported: await unsupportedTypes(store, subscribed) }
  } finally {
    await store.close()
  }
}

function printUnsupported(seen: Seen, out: Output): void {
  out.line()
  if ('notRead' in seen) {
    out.line(`quarantine: not read [${seen.notRead}]`)
    return
  }
  if (seen.unsupported.length === 0) {
    out.line('quarantine: no event of a type that no trigger supports')
    return
  }
  out.line('in quarantine, as no trigger supports them:')
  for (const { producer, type, version, count } of seen.unsupported) {
    out.line(`  ${producer} ${type}${version === null ? '' : ` in version ${version}`}, ${count}`)
  }
}

/** The stores that its effects may send bodies from. */
function bodiesOf(recipient: Recipient): readonly string[] {
  return recipient.kind === 'http' ? Object.keys(recipient.bodies ?? {}) : []
}

type Alerts = Counterfoil['alerts']

function deliveryOf({ to }: Alerts): { readonly recipient: string; readonly effect: string } | null {
  return to === undefined ? null : { recipient: to.effect.recipient.name, effect: to.effect.name }
}

function printAlerts(alerts: Alerts, out: Output): void {
  const to = deliveryOf(alerts)
  const { unattended } = alerts
  const again =
    unattended === undefined
      ? ''
      : `; what waits ${unattended.after} with nobody assigned: to ${unattended.owner}`
  out.line()
  out.line(`alerts: to ${to === null ? 'the log' : `${to.recipient} as '${to.effect}'`}${again}`)
}
