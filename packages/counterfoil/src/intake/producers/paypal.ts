import { crc32 } from 'node:zlib'
import { certificateKey } from '../certificate.ts'
import { instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { ProducerKind } from '../producer.ts'
import { isSignedBy } from '../public-key.ts'
import {
  checkFreshness,
  noMatch,
  noTimestamp,
  refused,
  secretsOf,
  strictBase64,
  toleranceOf,
} from '../signature.ts'
import { unordered } from './words.ts'

export interface PayPalOptions {
  /** The ids of our webhooks, as PayPal shows them: they are part of what is signed. */
  readonly webhookIds: string | readonly string[]
  /** Default `live`: where the certificate may lie. */
  readonly environment?: 'live' | 'sandbox'
  /**
   * How far the transmission time may be from now, in both directions. Default three days, the time of its
   * retries: whether a retry gets a time of its own is not documented.
   */
  readonly toleranceSeconds?: number
}

const hosts = {
  live: ['api.paypal.com', 'api-m.paypal.com'],
  sandbox: ['api.sandbox.paypal.com', 'api-m.sandbox.paypal.com'],
}

/**
 * PayPal webhooks. Signed: transmission id and time, our webhook id, and the CRC-32 of the body. Anyone who holds
 * one delivery can make another body with that CRC-32, so the event counts as unsigned: look up what matters.
 *
 * @throws CounterfoilError `config_invalid` without a webhook id
 */
export function paypal(options: PayPalOptions): ProducerKind {
  const webhookIds = secretsOf('PayPal', options.webhookIds, 'webhook id')
  const tolerance = toleranceOf('PayPal', options.toleranceSeconds ?? 259_200)
  return {
    kind: 'paypal',
    contentTypes: ['application/json'],
    provenance: 'unsigned',
    volatile: [],
    retryHorizon: '3d',
    maxBytes: 1_048_576,
    keyHosts: hosts[options.environment ?? 'live'],
    about: {
      signed:
        'transmission id, time, our webhook id and the CRC-32 of the body, joined with `|`; RSA-SHA256, certificate at PayPal. The body is so bound only against accidents',
      freshness: 'header `PAYPAL-TRANSMISSION-TIME`, 3 d',
      identity: '`id`',
      identitySigned: false,
      type: '`event_type`',
      version: '`resource_version`',
      retries: 'up to 25 times within 3 d',
      ordering: unordered,
      handshake: null,
      expects: '2xx',
      sources: [
        'https://developer.paypal.com/api/rest/webhooks/rest/',
        'https://developer.paypal.com/api/webhooks/v1/definitions/verify_webhook_signature',
      ],
    },
    async verify(delivery, now, keys) {
      const header = (name: string) => delivery.header(`paypal-${name}`)
      const [id, time, given] = [
        header('transmission-id'),
        header('transmission-time'),
        header('transmission-sig'),
      ]
      const url = header('cert-url')
      if (id === null || given === null || url === null)
        return refused('signature_missing', 'a PAYPAL- header is missing')
      // Named by the sender, outside what is signed.
      if (header('auth-algo') !== 'SHA256withRSA')
        return refused('signature_invalid', 'another algorithm than SHA256withRSA')
      const at = instantOf(time ?? undefined)
      if (at === null) return noTimestamp
      const signature = strictBase64(given)
      const key = await certificateKey(keys, url)
      const sum = crc32(delivery.body)
      const matches =
        key !== null &&
        webhookIds.some((webhook) =>
          isSignedBy([key], 'sha256', [`${id}|${time}|${webhook}|${sum}`], signature),
        )
      return matches ? checkFreshness(Math.floor(at / 1000), now, tolerance) : noMatch
    },
    facts: (payload) => ({
      id: textOf(memberOf(payload, 'id')),
      source: 'paypal',
      type: textOf(memberOf(payload, 'event_type')),
      version: textOf(memberOf(payload, 'resource_version')),
      at: instantOf(memberOf(payload, 'create_time')),
    }),
    data: (payload) => partOf(payload, 'resource'),
  }
}
