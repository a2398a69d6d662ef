import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Contract } from './contract.ts'
import { maxRetryAfterMs, waitMs } from './wait.ts'

const now = Date.UTC(2026, 0, 5, 12, 0, 0)
const answered = (status: number, headers: Record<string, string>, body = '') =>
  ({ kind: 'answered', status, headers, body: Buffer.from(body) }) as const

const github: Contract = {
  waits: [
    {
      header: 'x-ratelimit-reset',
      as: 'epoch-seconds',
      when: { status: 403, header: { name: 'x-ratelimit-remaining', equals: '0' } },
    },
  ],
}
const discord: Contract = { waits: [{ pointer: '/retry_after', as: 'seconds' }] }

const table: [string, Contract, ReturnType<typeof answered>, number | undefined][] = [
  ['nothing asked', {}, answered(429, {}), undefined],
  ['Retry-After in seconds', {}, answered(429, { 'retry-after': '7' }), 7_000],
  ['the RateLimit field with nothing left', {}, answered(429, { ratelimit: '"default";r=0;t=30' }), 30_000],
  ['two policies, one used up', {}, answered(429, { ratelimit: '"a";r=5;t=900, "b";r=0;t=12' }), 12_000],
  ['a RateLimit that only describes', {}, answered(200, { ratelimit: '"default";r=0;t=30' }), undefined],
  ['a RateLimit with something left', {}, answered(429, { ratelimit: '"default";r=3;t=30' }), undefined],
  [
    'the fields of the earlier drafts',
    {},
    answered(503, { 'ratelimit-remaining': '0', 'ratelimit-reset': '9' }),
    9_000,
  ],
  ['the longest of several', {}, answered(429, { 'retry-after': '2', ratelimit: '"d";r=0;t=5' }), 5_000],
  [
    'an epoch where the contract reads it',
    github,
    answered(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 40) }),
    40_000,
  ],
  [
    'an epoch that only describes',
    github,
    answered(403, { 'x-ratelimit-remaining': '8', 'x-ratelimit-reset': String(now / 1000 + 40) }),
    undefined,
  ],
  [
    'an epoch that has passed',
    github,
    answered(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '5' }),
    undefined,
  ],
  ['a member of the body', discord, answered(429, {}, '{"retry_after":0.64}'), 640],
  ['a member that is not there', discord, answered(429, {}, '{}'), undefined],
  ['an absurd wait', discord, answered(429, {}, '{"retry_after":1e12}'), maxRetryAfterMs],
]

for (const [name, contract, answer, ms] of table)
  test(`${name}: ${ms}`, () => assert.equal(waitMs(contract, answer, now), ms))
