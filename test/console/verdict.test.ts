import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verdictOf } from '../../console/src/effect/verdict.ts'

type Shown = Parameters<typeof verdictOf>[0]

const attempt = (number: number, outcome: string | null, why: string, status: number | null = null) => ({
  number,
  outcome,
  why,
  status,
})
const shown = (effect: object) =>
  ({
    effect: {
      state: 'planned',
      recipient: 'billing',
      disputed: false,
      attempts: [],
      evidence: [],
      ...effect,
    },
    next: { why: 'it is attempted soon' },
  }) as unknown as Shown

test('each state answers whether it happened, and how that is known', () => {
  const lost = attempt(1, 'unknown', 'no answer within 5 s')
  const cases: [effect: object, answer: RegExp, because: RegExp][] = [
    [{}, /^Not yet: nothing was sent/, /Next: it is attempted soon/],
    [
      { attempts: [attempt(1, 'notActed', 'connection refused')] },
      /^Not yet: billing did not act/,
      /sent once/,
    ],
    [{ state: 'attempting', attempts: [attempt(1, null, '')] }, /on its way/, /sent once/],
    [
      { state: 'unknown', attempts: [lost] },
      /^Nobody knows yet/,
      /Attempt 1 got no answer that proves anything/,
    ],
    [
      { state: 'confirmed', attempts: [lost, attempt(2, 'confirmed', 'answered 200', 200)] },
      /^Yes: billing has done it/,
      /answer to attempt 2 \(HTTP 200\).*sent 2 times, always the same bytes.*attempt 1 ended unknown/,
    ],
    [
      {
        state: 'confirmed',
        attempts: [lost],
        evidence: [{ kind: 'lookup', from: 'unknown', to: 'confirmed', why: 'found', by: 'engine' }],
      },
      /^Yes/,
      /We know by asking the recipient: found\./,
    ],
    [
      {
        state: 'refused',
        attempts: [lost],
        evidence: [{ kind: 'operator', from: 'unknown', to: 'refused', why: 'a letter', by: 'olga' }],
      },
      /^No: billing refused it/,
      /evidence from outside, decided by olga: a letter/,
    ],
    [{ state: 'fenced', attempts: [attempt(1, 'fenced', 'answered 412', 412)] }, /newer version/, /HTTP 412/],
    [{ state: 'withdrawn' }, /never will/, /^$/],
    [{ state: 'confirmed', disputed: true }, /^Disputed: it is confirmed/, /A final state never moves/],
  ]
  for (const [effect, answer, because] of cases) {
    const verdict = verdictOf(shown(effect))
    assert.match(verdict.answer, answer)
    assert.match(verdict.because.join(' '), because)
  }
})

test('an effect of many attempts tells the first of them and how many more there were', () => {
  const attempts = [1, 2, 3, 4, 5, 6].map((number) => attempt(number, 'unknown', 'no answer'))
  const { because } = verdictOf(shown({ state: 'unknown', attempts }))
  assert.match(because.join(' '), /sent 6 times.*attempt 3 ended unknown \(no answer\); 2 more\./)
})
