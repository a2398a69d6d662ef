import { contentId, instantOf, memberOf, partOf, textOf } from '../members.ts'
import type { OfflineKind } from '../producer.ts'
import { checkStamped, hmacKey, hmacText, secretsOf, toleranceOf } from '../signature.ts'
import { unordered } from './words.ts'

export interface SlackOptions {
  /** The app's signing secret, not the old verification token. */
  readonly secrets: string | readonly string[]
  /** How far the timestamp may be from now, in both directions. Default 300. */
  readonly toleranceSeconds?: number
}

/**
 * Slack: events, interactions and slash commands. Signed: `v0:timestamp:body`.
 *
 * @throws CounterfoilError `config_invalid` without a secret
 */
export function slack(options: SlackOptions): OfflineKind {
  const keys = secretsOf('Slack', options.secrets).map(hmacKey)
  const toleranceSeconds = toleranceOf('Slack', options.toleranceSeconds)
  return {
    kind: 'slack',
    contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
    form: 'either',
    provenance: 'signed',
    volatile: [],
    // Six minutes; a day where delayed events are switched on.
    retryHorizon: '24h',
    maxBytes: 1_048_576,
    about: {
      signed: '`v0:` timestamp `:` body, HMAC-SHA256 in hex',
      freshness: 'header `X-Slack-Request-Timestamp`, 300 s',
      identity: '`event_id`; `trigger_id` of an interaction or a command',
      identitySigned: true,
      type: '`event.type`, else `type`, else `command`',
      version: null,
      retries: '3 times: at once, after 1 min, after 5 min',
      ordering: unordered,
      handshake: '`url_verification`: its challenge, after the signature was verified',
      expects: '2xx within 3 s',
      sources: [
        'https://docs.slack.dev/authentication/verifying-requests-from-slack',
        'https://docs.slack.dev/apis/events-api',
        '@slack/bolt 5.1.0',
      ],
    },
    verify: (delivery, now) =>
      checkStamped(delivery, now, {
        timestamp: 'X-Slack-Request-Timestamp',
        signature: 'X-Slack-Signature',
        keys,
        toleranceSeconds,
        expect: (key, timestamp) => `v0=${hmacText(key, `v0:${timestamp}:`, delivery.body, 'hex')}`,
      }),
    facts(payload, delivery) {
      const text = (name: string) => textOf(memberOf(payload, name))
      return {
        id:
          text('event_id') ??
          text('trigger_id') ??
          contentId(payload, { signedAt: delivery.header('x-slack-request-timestamp') ?? '' }),
        source: text('team_id') ?? textOf(memberOf(memberOf(payload, 'team'), 'id')) ?? 'slack',
        type: textOf(memberOf(memberOf(payload, 'event'), 'type')) ?? text('type') ?? text('command'),
        version: null,
        at: instantOf(memberOf(payload, 'event_time')),
      }
    },
    handshake(_, payload) {
      const challenge = textOf(memberOf(payload, 'challenge'))
      if (challenge === null || memberOf(payload, 'type') !== 'url_verification') return null
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: challenge }
    },
    data: (payload) => partOf(payload, 'event'),
  }
}
