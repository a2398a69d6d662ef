import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Contract, nextStep, type Situation } from '../domain/index.ts'
import * as catalogue from '../recipients/catalogue/index.ts'
import { contractInWords } from './contract-in-words.ts'

const { entry: _, ...entries } = catalogue

function afterTimeOut(contract: Contract): Situation {
  const attempt = { number: 1, begunAt: 0, endedAt: 1_000, open: true, retryAfterMs: null, correlation: null }
  return {
    contract,
    state: 'unknown',
    plannedAt: 0,
    attempts: [{ ...attempt, outcome: 'unknown' }],
    lookups: [1_001],
    tombstones: [],
    accepted: false,
  }
}

describe('what check prints is what the engine does', () => {
  for (const [name, { contract }] of Object.entries(entries) as [string, catalogue.CatalogueEntry][]) {
    test(`at ${name}`, () => {
      const words = contractInWords(contract).join('\n')
      const step = nextStep(afterTimeOut(contract), 1_001)
      assert.equal(/may be repeated/.test(words), step.kind === 'repeat', words)
      assert.equal(/nothing is ever sent again/.test(words), step.kind === 'operator', words)
      assert.doesNotMatch(words, /undefined|null|\[object|NaN/)
      for (const sentence of contractInWords(contract)) assert.match(sentence, /^["A-Z\d].*\.$/)
    })
  }
})

test('every part of a contract is told', () => {
  const contract: Contract = {
    idempotency: {
      pointer: '/key',
      scope: 'endpoint',
      remembersFor: 'forever',
      otherPayload: 'first-answer',
      inFlight: { status: 409, header: { name: 'X-Busy' } },
      replays: 'first-answer',
      marker: { header: 'Replayed', equals: 'yes' },
    },
    lookup: {
      by: 'correlation',
      path: '/jobs/{correlation}',
      absence: { final: false },
      answers: [{ status: 102, means: 'pending' }],
    },
    ordering: {
      fence: { header: 'Version', rejectedWith: 412 },
      conditional: { header: 'If-Match', rejectedWith: 428 },
      tombstone: { method: 'DELETE', path: '/keys/{key}', answers: [{ status: 409, means: 'acted' }] },
    },
    outcomes: [{ status: 202, body: { pointer: '/state', equals: 'queued' }, means: 'accepted' }],
    correlation: { pointer: '/job' },
    waits: [{ header: 'X-Reset', as: 'seconds' }],
  }
  const words = contractInWords(contract).join('\n')
  for (const told of [
    "the body's /key and is remembered for ever, within one endpoint",
    'gets the first answer, as if it were the same',
    'a repeat gets 409 with X-Busy: it is waited for and repeated',
    'known by Replayed = "yes"',
    'asked at /jobs/{correlation}, if an answer carried the id',
    'A lookup answered 102 means pending',
    'rejects an older version in Version with 412',
    'precondition in If-Match; one that no longer holds is answered 428',
    'closes keys with DELETE /keys/{key}',
    'A tombstone answered 409 means acted',
    'An answer 202 with /state = "queued" means accepted',
    'Retry-After, X-Reset or RateLimit asks',
  ])
    assert.ok(words.includes(told), `${told}\n\n${words}`)
})
