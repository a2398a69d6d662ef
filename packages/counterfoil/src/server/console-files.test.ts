import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { consoleFiles } from './console-files.ts'

describe('the files of the console', () => {
  const outside = mkdtempSync(join(tmpdir(), 'counterfoil-files-'))
  const directory = join(outside, 'console')
  mkdirSync(directory)
  writeFileSync(join(outside, 'secret.txt'), 'outside')
  writeFileSync(join(directory, 'index.html'), '<!doctype html>the page')
  writeFileSync(join(directory, 'main-1.js'), 'the script')
  after(() => rmSync(outside, { recursive: true }))
  const files = consoleFiles(directory)

  test('the page is at every address, uncached, and no other site may frame or script it', async () => {
    for (const path of ['/', '/effects/eff_1', '/nowhere']) {
      const response = await files.request(path)
      assert.equal(await response.text(), '<!doctype html>the page')
      assert.equal(response.headers.get('cache-control'), 'no-store')
      const policy = response.headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe/)
      assert.equal(response.headers.get('x-frame-options'), 'DENY')
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
    }
  })

  test('assets are kept for ever and compressed for whoever takes it', async () => {
    const plain = await files.request('/assets/main-1.js')
    assert.equal(await plain.text(), 'the script')
    assert.match(plain.headers.get('cache-control') ?? '', /immutable/)
    const packed = await files.request('/assets/main-1.js', { headers: { 'accept-encoding': 'br, gzip' } })
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
  })

  test('no path leads to a file that is not of the build', async () => {
    for (const path of [
      '/assets/..%2fsecret.txt',
      '/assets/%2e%2e/secret.txt',
      '/assets/none.js',
      '/assets/__proto__',
    ]) {
      const response = await files.request(path)
      assert.doesNotMatch(await response.text(), /outside/)
    }
  })

  test('where nothing is built, the page says what to do', async () => {
    const response = await consoleFiles(join(outside, 'nothing')).request('/')
    assert.equal(response.status, 503)
    assert.match(await response.text(), /npm run build:console/)
  })
})
