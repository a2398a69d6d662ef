import { entry } from './entry.ts'

export const github = entry({
  vendor: 'GitHub REST API',
  contract: {
    outcomes: [
      { status: 403, header: { name: 'x-ratelimit-remaining', equals: '0' }, means: 'not-acted' },
      { status: 403, header: { name: 'retry-after' }, means: 'not-acted' },
      { status: 429, means: 'not-acted' },
    ],
    correlation: { pointer: '/id' },
    waits: [
      {
        header: 'x-ratelimit-reset',
        as: 'epoch-seconds',
        when: { status: 403, header: { name: 'x-ratelimit-remaining', equals: '0' } },
      },
      {
        header: 'x-ratelimit-reset',
        as: 'epoch-seconds',
        when: { status: 429, header: { name: 'x-ratelimit-remaining', equals: '0' } },
      },
    ],
  },
  about: {
    covers: 'issues, comments, releases and the like',
    sources: ['https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api'],
    checked: '2026-12-01',
    unconfirmed: ['that there is no key: none was found'],
    notSafe: [
      'A repeat makes a second issue or comment: an unknown outcome goes to a person, or to a lookup function that searches for a marker in the text.',
    ],
  },
})
