import { checkBasic } from '../credential.ts'
import { contentId, instantOf, joined, memberOf, nameOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { secretsOf } from '../signature.ts'
import { unordered } from './words.ts'

export interface PostmarkOptions {
  /** `user:password`, as in the URL that was given to Postmark; several while one is replaced. */
  readonly credentials: string | readonly string[]
}

/**
 * Postmark webhooks. Nothing is signed: basic authentication vouches for the sender alone.
 *
 * @throws CounterfoilError `config_invalid` without credentials
 */
export function postmark(options: PostmarkOptions): OfflineKind {
  const credentials = secretsOf('Postmark', options.credentials, 'credential')
  return {
    kind: 'postmark',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    volatile: [],
    retryHorizon: '12h',
    // Inbound messages carry their attachments.
    maxBytes: 50 * 1_048_576,
    answer: { accepted: { status: 200 } },
    about: {
      signed: 'nothing: basic authentication',
      freshness: 'none',
      identity: '`ID` of a bounce or complaint, `MessageID` of an inbound message; else the content',
      identitySigned: false,
      type: '`RecordType`; `Inbound` where there is none',
      version: null,
      retries: 'after 1, 5, 10, 10, 10, 15, 30 min, 1, 2, 6 h',
      ordering: unordered,
      handshake: null,
      expects: '200; 403 ends the retries',
      sources: ['https://postmarkapp.com/developer/webhooks/webhooks-overview'],
    },
    verify: (delivery) => checkBasic(delivery, credentials),
    facts(payload) {
      const member = (name: string) => memberOf(payload, name)
      const type = textOf(member('RecordType')) ?? 'Inbound'
      const only = type === 'Inbound' ? textOf(member('MessageID')) : nameOf(member('ID'))
      return {
        // One message may be opened and clicked many times.
        id: joined(type, only) ?? contentId(payload),
        source: 'postmark',
        type,
        version: null,
        at: instantOf(
          member('BouncedAt') ??
            member('DeliveredAt') ??
            member('ReceivedAt') ??
            member('ChangedAt') ??
            member('Date'),
        ),
      }
    },
    data: (payload) => payload,
  }
}
