import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shapes } from '../../packages/counterfoil/src/engine/fixtures/shapes.ts'
import { explore } from './explore.ts'
import { sceneOf } from './scene.ts'

const most = 1_000_000

for (const [name, shape] of Object.entries(shapes)) {
  test(`whatever happens to two workers, two events and an attempt, in whatever order, breaks nothing: ${name}`, (t) => {
    const { states, steps, violation, bounded } = explore(sceneOf(shape, 1), most)
    t.diagnostic(`${states} states, ${steps} steps`)
    assert.ok(!violation, JSON.stringify(violation))
    assert.ok(!bounded, `more than ${most} states`)
  })
}
