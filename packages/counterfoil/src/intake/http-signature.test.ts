import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { deliveryOf } from './fixtures/senders.ts'
import { digestFits } from './http-signature.ts'
import { httpSignatures } from './producers/index.ts'

const now = 1_767_225_600
const secret = Buffer.from('a shared secret that only tests know')
const body = '{"id":"1","type":"t"}'
const digest = (algorithm: 'sha256' | 'sha512') => createHash(algorithm).update(body).digest('base64')
const contentDigest = `sha-256=:${digest('sha256')}:`
const url = 'https://hooks.example/in/it?a=1&a=2&b=x%20y'
const keys = [{ keyid: 'k', algorithm: 'hmac-sha256' as const, key: secret.toString('base64') }]
const kind = httpSignatures({ id: '/id', type: '/type', keys, covers: ['@method', 'content-digest'] })

/** Signed over lines that are written out here. */
function signed(lines: readonly string[], input: string, about: { label?: string; secret?: Buffer } = {}) {
  const base = [...lines, `"@signature-params": ${input}`].join('\n')
  const signature = createHmac('sha256', about.secret ?? secret)
    .update(base)
    .digest('base64')
  return {
    'content-digest': contentDigest,
    'signature-input': `sig=${input}`,
    signature: `${about.label ?? 'sig'}=:${signature}:`,
  }
}

const covered = ['"@method": POST', `"content-digest": ${contentDigest}`]
const input = (more = '') => `("@method" "content-digest");created=${now};keyid="k"${more}`
const verify = (headers: Record<string, string>, of = kind, content = body) =>
  of.verify(deliveryOf(headers, content, { url }), now * 1000)

describe('an HTTP message signature', () => {
  test('over what is asked for is accepted', () => {
    assert.deepEqual(verify(signed(covered, input())), { kind: 'verified' })
  })

  test('over the digest covers the body only when the digest is that of the body', () => {
    const verdict = verify(signed(covered, input()), kind, `${body} `)
    assert.ok(verdict.kind === 'refused' && verdict.why.includes('Content-Digest'))
  })

  test('over less, over nothing, or over a component twice is refused, however valid', () => {
    assert.equal(verify(signed([], `();created=${now};keyid="k"`)).kind, 'refused')
    assert.equal(verify(signed(['"@method": POST'], `("@method");created=${now};keyid="k"`)).kind, 'refused')
    const twice = `("@method" "@method" "content-digest");created=${now};keyid="k"`
    assert.equal(verify(signed([covered[0]!, ...covered], twice)).kind, 'refused')
  })

  test('over a component that is not there, or that is asked for in a way of which there is none here, is refused', () => {
    for (const [name, value] of [
      ['"x-absent"', ''],
      ['"content-digest";sf', contentDigest],
      ['"content-digest";bs', contentDigest],
      ['"@method";req', 'POST'],
      ['"@status"', '200'],
      ['"@query-param";name="a"', '1'],
      ['"@query-param"', '1'],
    ]) {
      const asked = `("@method" "content-digest" ${name});created=${now};keyid="k"`
      assert.equal(verify(signed([...covered, `${name}: ${value}`], asked)).kind, 'refused', name)
    }
  })

  test('over parts of the address holds for the address as it came', () => {
    const parts = [
      ['"@target-uri"', url],
      ['"@authority"', 'hooks.example'],
      ['"@scheme"', 'https'],
      ['"@request-target"', '/in/it?a=1&a=2&b=x%20y'],
      ['"@path"', '/in/it'],
      ['"@query"', '?a=1&a=2&b=x%20y'],
      ['"@query-param";name="b"', 'x%20y'],
    ] as const
    const asked = `("@method" "content-digest" ${parts.map(([name]) => name).join(' ')});created=${now};keyid="k"`
    const lines = [...covered, ...parts.map(([name, value]) => `${name}: ${value}`)]
    assert.deepEqual(verify(signed(lines, asked)), { kind: 'verified' })
  })

  test('without a time, from another time, or past its end is refused', () => {
    const code = (asked: string) => {
      const verdict = verify(signed(covered, asked))
      return verdict.kind === 'refused' ? verdict.code : verdict.kind
    }
    assert.equal(code('("@method" "content-digest");keyid="k"'), 'timestamp_invalid')
    assert.equal(code(`("@method" "content-digest");created=${now - 301};keyid="k"`), 'timestamp_stale')
    assert.equal(code(`("@method" "content-digest");created=${now + 301};keyid="k"`), 'timestamp_stale')
    assert.equal(code(input(`;expires=${now - 1}`)), 'timestamp_stale')
    assert.equal(code(input(`;expires=${now}`)), 'verified')
  })

  test('counts under the algorithm of its key and no other, and under any key of its name', () => {
    assert.equal(verify(signed(covered, input(';alg="hmac-sha256"'))).kind, 'verified')
    assert.equal(verify(signed(covered, input(';alg="ed25519"'))).kind, 'refused')
    const old = Buffer.from('an older shared secret of the tests')
    const both = httpSignatures({
      id: '/id',
      type: '/type',
      keys: [...keys, { ...keys[0]!, key: old.toString('base64') }],
      covers: ['content-digest'],
    })
    assert.equal(verify(signed(covered, input(), { secret: old }), both).kind, 'verified')
    assert.equal(verify(signed(covered, input().replace('"k"', '"other"')), both).kind, 'refused')
  })

  test('of several, one that is good is enough; with a tag, only those that have it', () => {
    const good = signed(covered, input(';tag="t"'))
    const two = {
      ...good,
      'signature-input': `first=("@method");created=${now};keyid="k", ${good['signature-input']}`,
      signature: `first=:AAAA:, ${good.signature}`,
    }
    const tagged = (tag: string) =>
      httpSignatures({ id: '/id', type: '/type', keys, covers: ['content-digest'], tag })
    assert.equal(verify(two).kind, 'verified')
    assert.equal(verify(two, tagged('t')).kind, 'verified')
    assert.equal(verify(two, tagged('other')).kind, 'refused')
  })

  test('without its counterpart, or that cannot be read, is none', () => {
    const good = signed(covered, input())
    for (const change of [
      { signature: '' },
      { signature: 'sig=:AAAA' },
      { signature: 'sig="text"' },
      { 'signature-input': '' },
      { 'signature-input': 'sig' },
      { 'signature-input': 'sig=(' },
      { 'signature-input': good['signature-input'].replace('sig=', 'other=') },
    ]) {
      const verdict = verify({ ...good, ...change })
      assert.ok(verdict.kind === 'refused' && verdict.code === 'signature_missing', JSON.stringify(change))
    }
  })

  test('says whether id and type are signed', () => {
    assert.equal(kind.provenance, 'signed')
    const at = (id: '/id' | { header: string }, covers: string[]) =>
      httpSignatures({ id, type: '/type', keys, covers }).provenance
    assert.equal(at('/id', ['@method']), 'unsigned')
    assert.equal(at({ header: 'X-Id' }, ['content-digest']), 'unsigned')
    assert.equal(at({ header: 'X-Id' }, ['content-digest', 'x-id']), 'signed')
  })
})

test('a content digest fits when all that are known do, and one is', () => {
  const [good, better] = [contentDigest, `sha-512=:${digest('sha512')}:`]
  const fits = (header: string | null) => digestFits(header, Buffer.from(body))
  for (const header of [good, better, `${good}, ${better}`, `md5=:AAAA:, ${good}`])
    assert.ok(fits(header), header)
  const wrong = `sha-256=:${Buffer.alloc(32).toString('base64')}:`
  for (const header of [
    null,
    '',
    'md5=:AAAA:',
    wrong,
    `${better}, ${wrong}`,
    'sha-256=1',
    good.slice(0, -1),
  ]) {
    assert.equal(fits(header), false, String(header))
  }
})
