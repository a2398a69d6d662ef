import { contractInWords } from '../operate/index.ts'
import { placeOf } from '../recipients/index.ts'
import { type Command, exit } from './command.ts'

export const check: Command = {
  name: 'check',
  summary: 'Check the configuration and print, in words, what the engine does at each recipient',
  usage: 'counterfoil check [--config FILE]',
  example: 'counterfoil check --config counterfoil.config.ts',
  async run({ app, out }) {
    const { producers, triggers, recipients, store, owner, operators, alerts } = await app()
    const { to: delivery, unattended = null } = alerts
    const alertsTo =
      delivery === undefined
        ? null
        : { recipient: delivery.effect.recipient.name, effect: delivery.effect.name }
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
        types: typesOf(producer.name),
      })),
      triggers: triggers.map((trigger) => ({
        name: trigger.name,
        on: trigger.on.map((on) => `${on.producer.name} ${on.type}`),
      })),
      recipients: [...recipients.values()].map((recipient) => ({
        name: recipient.name,
        url: placeOf(recipient),
        contract: recipient.contract,
        inWords: contractInWords(recipient.contract),
      })),
      operators: operators.map(({ name, role, token }) => ({ name, role, hasToken: token !== undefined })),
      alerts: { to: alertsTo, unattended },
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
    }
    for (const recipient of recipients.values()) {
      out.line()
      out.line(`recipient ${recipient.name} at ${placeOf(recipient)}`)
      for (const sentence of contractInWords(recipient.contract)) out.line(`  ${sentence}`)
    }
    out.line()
    const where = alertsTo === null ? 'the log' : `${alertsTo.recipient} as '${alertsTo.effect}'`
    const again =
      unattended === null
        ? ''
        : `; what waits ${unattended.after} with nobody assigned: to ${unattended.owner}`
    out.line(`alerts: to ${where}${again}`)
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
