import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ShapeName, shapes } from '../../packages/counterfoil/src/engine/fixtures/shapes.ts'
import { explore } from './explore.ts'
import { sceneOf } from './scene.ts'

/** Attempts where more than one is cheap. `npm run exhaustive -- all 3` plays three of every shape. */
const moreAttempts: Partial<Record<ShapeName, number>> = {
  neither: 3,
  conditional: 2,
  idempotent: 2,
  'first answer': 2,
}

for (const [name, shape] of Object.entries(shapes)) {
  const attempts = moreAttempts[name as ShapeName] ?? 1
  test(`whatever happens to two workers, two events and ${attempts} attempts, in whatever order, breaks nothing: ${name}`, (t) => {
    const { states, steps, depth, violation, bounded } = explore(sceneOf(shape, attempts), 1_000_000)
    t.diagnostic(`${states} states, ${steps} steps, depth ${depth}`)
    assert.ok(!violation, JSON.stringify(violation))
    assert.ok(!bounded)
    assert.ok(states > 400, 'the space has shrunk: something is not played any more')
  })
}
