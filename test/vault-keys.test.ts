import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { disposeWorlds, World } from './world.ts'

afterEach(async () => {
  delete process.env.COUNTERFOIL_VAULT_KEYS
  await disposeWorlds()
})

const key = (letter: string) => Buffer.alloc(32, letter).toString('base64')

test('an effect whose key is away waits, proved unsent, and goes out once the key is back', async () => {
  process.env.COUNTERFOIL_VAULT_KEYS = `old:${key('o')}`
  const world = new World({
    shape: 'neither',
    network: (_, count) => (count === 0 ? 'refused-connection' : 'none'),
  })
  await world.start()
  await world.deliver('481')
  await world.run(500)
  await world.kill()

  process.env.COUNTERFOIL_VAULT_KEYS = `new:${key('n')}`
  await world.start()
  await world.run(60_000)
  const [waiting] = await world.app.store.listEffects({ limit: 1 })
  assert.equal(waiting?.state, 'planned')
  assert.match(waiting?.attempts.at(-1)?.why ?? '', /vault_key_unknown/)
  await world.kill()

  process.env.COUNTERFOIL_VAULT_KEYS = `new:${key('n')},old:${key('o')}`
  await world.start()
  await world.settle(60 * 60_000)
  assert.deepEqual(await world.violations(), [])
  assert.equal(world.recipient.acts.length, 1)
})
