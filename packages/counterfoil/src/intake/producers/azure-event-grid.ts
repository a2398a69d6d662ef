import { CounterfoilError, type Instant } from '../../domain/index.ts'
import { authorization, checkCredential } from '../credential.ts'
import { jwksKey, verifyJwt } from '../jwt.ts'
import { elementsOf, instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { Delivery, KeySource, ProducerKind, Verification } from '../producer.ts'
import { refused, secretsOf, verified } from '../signature.ts'
import { unordered } from './words.ts'

export interface AzureEventGridOptions {
  /** Values of the secret query parameter in the subscription's URL. */
  readonly secrets?: string | readonly string[]
  /** Its name. Default `code`. */
  readonly parameter?: string
  /** Instead, or as well: tokens of Microsoft Entra. */
  readonly entra?: {
    readonly tenant: string
    /** Our application, as the token names it. */
    readonly audience: string
    /** The application of Event Grid; another one in sovereign clouds. */
    readonly sender?: string
  }
}

/** Microsoft.EventGrid in the public cloud. */
const publicSender = '4962773b-9cdb-44cf-a8bf-237846a00ab7'

/**
 * Azure Event Grid in its own schema; for its CloudEvents use `cloudEvents`. Nothing is signed: a secret in the
 * URL, or an Entra token, vouches for the sender alone.
 *
 * @throws CounterfoilError `config_invalid` without either
 */
export function azureEventGrid(options: AzureEventGridOptions): ProducerKind {
  const { entra, parameter = 'code' } = options
  const secrets =
    options.secrets === undefined && entra !== undefined
      ? null
      : secretsOf('Event Grid', options.secrets ?? [])
  if (entra !== undefined && !/^[\w.-]+$/.test(entra.tenant)) {
    throw new CounterfoilError('config_invalid', 'The Entra tenant of an Event Grid producer is none.', {
      hint: 'Give its id or its domain.',
    })
  }
  return {
    kind: 'azure-event-grid',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    volatile: [],
    retryHorizon: '24h',
    maxBytes: 2 * 1_048_576,
    keyHosts: ['login.microsoftonline.com'],
    answer: { accepted: { status: 200 } },
    about: {
      signed: 'nothing: a secret in the query, or a Microsoft Entra token',
      freshness: 'none; a token ends with its `exp`',
      identity: '`id` of each element, within its `topic`',
      identitySigned: false,
      type: '`eventType`',
      version: '`dataVersion`',
      retries: 'after 10, 30 s, 1, 5, 10, 30 min, then every hour, for 24 h',
      ordering: unordered,
      handshake: '`SubscriptionValidation`: its code, after the credential was checked',
      expects: '200 within 30 s; 400 and 413 drop the event for ever',
      sources: [
        'https://learn.microsoft.com/azure/event-grid/end-point-validation-event-grid-events-schema',
        'https://learn.microsoft.com/azure/event-grid/delivery-and-retry',
        'https://learn.microsoft.com/azure/event-grid/secure-webhook-delivery',
      ],
    },
    async verify(delivery, now, keys) {
      if (entra !== undefined && authorization(delivery, 'Bearer') !== null)
        return await checkToken(delivery, now, keys, entra)
      return checkCredential(delivery.query(parameter), `the query parameter ${parameter}`, secrets ?? [])
    },
    handshake(delivery, payload) {
      if (delivery.header('aeg-event-type') !== 'SubscriptionValidation') return null
      const code = textOf(memberOf(memberOf(elementsOf(payload)[0], 'data'), 'validationCode'))
      const body = code === null ? '' : JSON.stringify({ validationResponse: code })
      return { status: 200, headers: { 'content-type': 'application/json' }, body }
    },
    events: (payload) => (Array.isArray(payload) ? elementsOf(payload) : null),
    facts: (event) => ({
      id: textOf(memberOf(event, 'id')),
      source: textOf(memberOf(event, 'topic')) ?? 'azure-event-grid',
      type: textOf(memberOf(event, 'eventType')),
      version: textOf(memberOf(event, 'dataVersion')),
      at: instantOf(memberOf(event, 'eventTime')),
    }),
    data: (event) => partOf(event, 'data'),
  }
}

async function checkToken(
  delivery: Delivery,
  now: Instant,
  keys: KeySource,
  { tenant, audience, sender = publicSender }: NonNullable<AzureEventGridOptions['entra']>,
): Promise<Verification> {
  const jwks = `https://login.microsoftonline.com/${tenant}/discovery/v2.0/keys`
  const issuers = [`https://login.microsoftonline.com/${tenant}/v2.0`, `https://sts.windows.net/${tenant}/`]
  const rules = { algorithms: ['RS256'], issuers, audience }
  const verdict = await verifyJwt(
    authorization(delivery, 'Bearer'),
    (kid) => jwksKey(keys, jwks, kid),
    now,
    rules,
  )
  if (verdict.kind === 'refused') return verdict
  // Version 1 tokens name the application `appid`, version 2 `azp`. Others in the tenant get tokens too.
  const { appid, azp } = verdict.claims
  return (azp ?? appid) === sender
    ? verified
    : refused('signature_invalid', 'the token is not that of Event Grid')
}
