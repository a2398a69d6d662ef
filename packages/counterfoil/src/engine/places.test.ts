import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldPerCall, Places } from './places.ts'

test('a place comes free when its call has ended, before the effect is settled', () => {
  const places = new Places(2)
  const first = places.take()
  places.take()
  assert.equal(places.free, 0)
  first.callEnded()
  assert.equal(places.free, 1)
})

test('an effect that was called for frees one place, however its end is told', () => {
  const places = new Places(2)
  const place = places.take()
  place.callEnded()
  place.callEnded()
  place.leave()
  assert.equal(places.free, 2)
})

test('an effect that needed no call frees its place when it is out of hand', () => {
  const places = new Places(1)
  places.take().leave()
  assert.equal(places.free, 1)
})

test('what is not settled holds back the next calls at the limit', () => {
  const places = new Places(2)
  const held = Array.from({ length: 2 * heldPerCall }, () => {
    const place = places.take()
    place.callEnded()
    return place
  })
  assert.equal(places.free, 0)
  held[0]!.leave()
  assert.equal(places.free, 1)
})
