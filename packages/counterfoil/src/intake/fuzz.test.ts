import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzz, kindsThatStayOut } from './fixtures/fuzz.ts'
import { kindOf } from './fixtures/vectors.ts'

test('no mutated delivery of any kind is accepted without its signature, breaks intake, or stays in memory', async () => {
  const seed = Date.now() % 1_000_000
  const { findings, kinds, answers, grown } = await fuzz({ deliveries: 6_000, seed })
  assert.deepEqual(findings, [], `npm run fuzz -- 1 ${seed} DELIVERY`)
  assert.deepEqual([...kinds.keys()].sort(), Object.keys(kindOf).sort())
  assert.deepEqual(await kindsThatStayOut(), [])
  for (const status of [202, 400, 401, 405, 415]) assert.ok(answers.has(status), String(status))
  assert.ok(grown < 200_000_000)
})
