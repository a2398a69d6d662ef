import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownerByRule } from './owner.ts'

const rules = [
  { producer: 'stripe', type: 'invoice.paid', owner: 'collections' },
  { producer: 'stripe', type: 'invoice.*', owner: 'billing' },
  { type: 'security.*', owner: 'security' },
  { producer: 'stripe', owner: 'payments' },
]

test('the first rule that fits names the owner', () => {
  const cases: [producer: string, type: string, owner: string | undefined][] = [
    ['stripe', 'invoice.paid', 'collections'],
    ['stripe', 'invoice.voided', 'billing'],
    ['stripe', 'invoices', 'payments'],
    ['stripe', 'charge.failed', 'payments'],
    ['stripe', 'security.breach', 'security'],
    ['github', 'security.breach', 'security'],
    ['github', 'invoice.paid', undefined],
    ['github', '-', undefined],
  ]
  for (const [producer, type, owner] of cases)
    assert.equal(ownerByRule(rules, producer, type), owner, `${producer} ${type}`)
})
