import { entry } from './entry.ts'

export const slack = entry({
  vendor: 'Slack Web API',
  contract: {
    outcomes: [
      { status: 200, body: { pointer: '/error', equals: 'fatal_error' }, means: 'unknown' },
      { status: 200, body: { pointer: '/error', equals: 'internal_error' }, means: 'unknown' },
      { status: 200, body: { pointer: '/error', equals: 'ratelimited' }, means: 'not-acted' },
      { status: 200, body: { pointer: '/error', equals: 'invalid_auth' }, means: 'not-acted' },
      { status: 200, body: { pointer: '/error', equals: 'token_expired' }, means: 'not-acted' },
      { status: 200, body: { pointer: '/ok', equals: false }, means: 'refused' },
      { status: 429, means: 'not-acted' },
    ],
    correlation: { pointer: '/ts' },
  },
  about: {
    covers: 'chat.postMessage and methods like it',
    sources: [
      'https://docs.slack.dev/reference/methods/chat.postMessage',
      'https://docs.slack.dev/apis/web-api/rate-limits',
    ],
    checked: '2026-12-01',
    unconfirmed: [
      'that there is no key: none was found',
      'the names of the errors: taken from a copy of the method reference',
    ],
    notSafe: [
      'A repeat posts twice: an unknown outcome goes to a person, or to a lookup function over conversations.history.',
      'Slack itself says of fatal_error and internal_error that part of the work may have been done.',
    ],
  },
})
