import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MemberOrders, opening } from './member-order.ts'

test('names come in the order of their UTF-16 code units, however often a shape is met', () => {
  const orders = new MemberOrders()
  const name = fc.oneof(
    fc.constantFrom('id', 'a', 'b', '10', '9', '\uffff', '😀'),
    fc.string({ unit: 'binary' }),
  )
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 180 }), fc.nat(2), (keys, again) => {
      for (let met = 0; met <= again; met++) {
        const { names, openings } = orders.of([...keys])
        assert.deepEqual(names, [...keys].sort())
        if (openings !== undefined) assert.deepEqual(openings, names.map(opening))
      }
    }),
  )
})

test('a shape that comes back is not sorted again', () => {
  const orders = new MemberOrders()
  assert.equal(orders.of(['b', 'a']).openings, undefined)
  assert.equal(orders.of(['b', 'a']), orders.of(['b', 'a']))
  assert.deepEqual(orders.of(['b', 'a']).openings, ['{"a":', ',"b":'])
})

test('shapes beyond the limits are sorted and forgotten', () => {
  const orders = new MemberOrders()
  const many = Array.from({ length: 161 }, (_, index) => `n${index}`)
  for (const keys of [many, ['x'.repeat(4_001)]]) assert.notEqual(orders.of(keys), orders.of(keys))
  const early = orders.of(['early'])
  for (let index = 0; index < 1_000; index++) orders.of([`first${index}`])
  assert.notEqual(orders.of(['early']), early)
})
