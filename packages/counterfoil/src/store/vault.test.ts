import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { systemRandom } from '../ambient.ts'
import { KeyRing } from './key-ring.ts'
import { Vault } from './vault.ts'

const key = () => createSecretKey(randomBytes(32))
const [old, recent] = [key(), key()]
const vaultOf = (...keys: [string, ReturnType<typeof key>][]) =>
  new Vault(new KeyRing(new Map(keys)), systemRandom)
const vault = vaultOf(['k1', old])
const damaged = { code: 'vault_damaged' }

test('what was sealed opens, for the record that it was sealed for and no other', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), fc.string(), fc.string(), (payload, record, other) => {
      const sealed = vault.seal(payload, record)
      assert.deepEqual(new Uint8Array(vault.open(sealed, record)), payload)
      if (other !== record) assert.throws(() => vault.open(sealed, other), damaged)
    }),
  )
})

test('one bit changed anywhere, and it does not open', () => {
  const sealed = vault.seal(Buffer.from('payload'), 'rcp_1')
  for (const part of ['nonce', 'ciphertext'] as const) {
    for (let at = 0; at < sealed[part].length; at++) {
      const changed = Uint8Array.from(sealed[part])
      changed[at]! ^= 1
      assert.throws(() => vault.open({ ...sealed, [part]: changed }, 'rcp_1'), damaged)
    }
  }
})

test('a cut one does not open, also where a short tag would pass for a whole one', () => {
  const sealed = vault.seal(Buffer.from('payload'), 'rcp_1')
  for (let length = 0; length < sealed.ciphertext.length; length++) {
    assert.throws(
      () => vault.open({ ...sealed, ciphertext: sealed.ciphertext.subarray(0, length) }, 'rcp_1'),
      damaged,
    )
  }
  // Eight bytes of payload and a quarter of their tag.
  const short = vault.seal(Buffer.from('8 bytes.'), 'rcp_1')
  const quarter = { ...short, ciphertext: short.ciphertext.slice(0, 12) }
  assert.throws(() => vault.open(quarter, 'rcp_1'), damaged)
  for (const nonce of [new Uint8Array(0), sealed.nonce.subarray(0, 8)]) {
    assert.throws(() => vault.open({ ...sealed, nonce }, 'rcp_1'), damaged)
  }
})

test('rotation: the new key seals, the old one still opens, and is missed by name once it is gone', () => {
  const sealed = vault.seal(Buffer.from('x'), 'rcp_1')
  const both = vaultOf(['k2', recent], ['k1', old])
  assert.equal(Buffer.from(both.open(sealed, 'rcp_1')).toString(), 'x')
  assert.equal(both.seal(Buffer.from('x'), 'rcp_1').keyId, 'k2')
  const gone = vaultOf(['k2', recent])
  assert.throws(() => gone.open(sealed, 'rcp_1'), { code: 'vault_key_unknown', message: /'k1'/ })
  // Another key under the old name is not the old key.
  assert.throws(() => vaultOf(['k1', recent]).open(sealed, 'rcp_1'), damaged)
})

test('no two seals share a nonce, and none holds on to the pool of randomness', () => {
  const nonces = new Set<string>()
  for (let index = 0; index < 2_000; index++) {
    const { nonce, ciphertext } = vault.seal(Buffer.from('x'), 'rcp_1')
    nonces.add(Buffer.from(nonce).toString('hex'))
    assert.equal(nonce.buffer.byteLength, 12)
    assert.equal(ciphertext.buffer.byteLength, 17)
  }
  assert.equal(nonces.size, 2_000)
})

test('neither payload nor key is in an error or a print', () => {
  const raw = randomBytes(32)
  const own = new Vault(new KeyRing(new Map([['k', createSecretKey(raw)]])), systemRandom)
  const sealed = own.seal(Buffer.from('the payload'), 'rcp_1')
  const prints = [inspect(own, { depth: 9, showHidden: true }), JSON.stringify(own)]
  try {
    own.open(sealed, 'rcp_2')
  } catch (error) {
    prints.push(inspect(error, { depth: 9, showHidden: true }))
  }
  assert.equal(prints.length, 3)
  for (const print of prints) {
    for (const secret of ['the payload', raw.toString('hex'), raw.toString('base64')])
      assert.ok(!print.includes(secret))
  }
})
