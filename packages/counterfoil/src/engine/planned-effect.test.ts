import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { systemClock, systemRandom } from '../ambient.ts'
import { recipient } from '../recipients/index.ts'
import { vault } from './fixtures/retention-world.ts'
import { toEffect } from './planned-effect.ts'

const open = async function* () {}
const archive = recipient('archive', {
  url: 'https://archive.example',
  contract: {},
  bodies: { files: { open }, objects: { open } },
})
type Place = { readonly store: 'files' | 'objects'; readonly key: string; readonly sha256: string }

/** The payload says nothing of the bytes: only the request does. */
async function fingerprint(place: Place): Promise<string> {
  const definition = archive.effect('scan.keep', {
    payload: z.object({ scan: z.number() }),
    request: () => ({ method: 'PUT', path: '/scans/7', bodyFrom: { length: 9, ...place } }),
  })
  const ports = { vault, clock: systemClock, random: systemRandom }
  const plan = { key: 'scan/7', payload: { scan: 7 } }
  const recipients = new Map([['archive', archive]])
  return (await toEffect(ports, recipients, { trigger: 't', definition, plan }, 0)).fingerprint
}

test('bytes sent by reference belong to the fingerprint by their digest, wherever they lie', async () => {
  const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]
  const known = await fingerprint({ store: 'files', key: 'a', sha256: one })
  assert.equal(await fingerprint({ store: 'objects', key: 'b', sha256: one }), known)
  assert.notEqual(await fingerprint({ store: 'files', key: 'a', sha256: other }), known)
})
