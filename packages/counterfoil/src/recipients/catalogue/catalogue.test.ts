import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type Contract, checkContract } from '../../domain/index.ts'
import * as catalogue from './index.ts'

const { entry: _, ...entries } = catalogue
const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../../contract.schema.json'), 'utf8'))
const validate = new Ajv2020({ strictRequired: false, strictTypes: false }).compile(schema)

for (const [name, { vendor, contract, about }] of Object.entries(entries) as [
  string,
  catalogue.CatalogueEntry,
][]) {
  describe(`${vendor} (${name})`, () => {
    test('fits the published schema and does not contradict itself', () => {
      assert.ok(validate(contract), JSON.stringify(validate.errors))
      checkContract(name, contract)
    })

    test('says what it rests on, and what is not safe there', () => {
      for (const source of about.sources) assert.equal(new URL(source).protocol, 'https:')
      assert.match(about.checked, /^\d{4}-\d{2}-\d{2}$/)
      assert.ok(about.covers.length > 5 && about.notSafe.length > 0)
      for (const sentence of about.notSafe) assert.match(sentence, /^[A-Z].*\.$/)
    })

    test('states no memory without a number, and says so where it has none', () => {
      const { remembersFor } = (contract as Contract).idempotency ?? {}
      if (remembersFor !== 'unstated') return
      const said = [...about.notSafe, ...about.unconfirmed].join(' ')
      assert.match(said, /remembersFor/, 'the reader is told to state it')
    })
  })
}

test('the catalogue holds the vendors that were promised', () => {
  assert.ok(Object.keys(entries).length >= 34)
  const names = (Object.values(entries) as catalogue.CatalogueEntry[]).map(({ vendor }) => vendor)
  assert.equal(new Set(names).size, names.length)
})
