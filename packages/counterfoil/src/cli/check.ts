import type { Counterfoil } from '../counterfoil.ts'
import { codeOf, type ErrorCode } from '../domain/index.ts'
import type { EventType } from '../intake/index.ts'
import { contractInWords, type UnsupportedType, unsupportedTypes } from '../operate/index.ts'
import { placeOf } from '../recipients/index.ts'
import { type Command, exit, type Output } from './command.ts'

export const check: Command = {
  name: 'check',
  summary: 'Check the configuration and print, in words, what the engine does at each recipient',
  usage: 'counterfoil check [--config FILE]',
  example: 'counterfoil check --config counterfoil.config.ts',
  async run({ app, out }) {
    const { producers, triggers, recipients, store, owner } = await app()
    const seen = await seenInQuarantine(store, triggers)
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
    }
    for (const recipient of recipients.values()) {
      out.line()
      out.line(`recipient ${recipient.name} at ${placeOf(recipient)}`)
      for (const sentence of contractInWords(recipient.contract)) out.line(`  ${sentence}`)
    }
    printUnsupported(seen, out)
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
