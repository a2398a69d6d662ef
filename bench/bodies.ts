/**
 * What an attempt with a large body by reference takes, in time and in memory, beside a plain pipe of the same file into the
 * same service: `npm run bench:bodies [-- ROUNDS [MEGABYTES]]`. Rounds alternate; the first is a warm-up.
 */
import { fork } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type BodyStore, fileBodies, recipient, undiciNetwork } from 'counterfoil'
import { systemClock } from '../packages/counterfoil/src/ambient.ts'
import type { EffectKey, IdempotencyKey } from '../packages/counterfoil/src/domain/index.ts'
import { encode, prepare } from '../packages/counterfoil/src/recipients/index.ts'
import { print, spread } from './figures.ts'
import { benchDirectory } from './setup.ts'

if (process.argv[2] === 'service') await serve()
else await measure(Number(process.argv[2] ?? 5), Number(process.argv[3] ?? 200) * 1_000_000)

/** Answers with the digest of what it was sent. */
async function serve(): Promise<void> {
  const server = createServer(async (incoming, response) => {
    const digest = createHash('sha256')
    for await (const chunk of incoming) digest.update(chunk)
    response.writeHead(201, { digest: digest.digest('hex') }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

async function measure(rounds: number, length: number): Promise<void> {
  const service = fork(import.meta.filename, ['service'])
  const [url] = (await once(service, 'message')) as [string]
  const directory = benchDirectory()
  const file = join(directory, 'body')
  const digest = createHash('sha256')
  await pipeline(async function* () {
    for (let left = length; left > 0; left -= 1_000_000) {
      const part = randomBytes(Math.min(left, 1_000_000))
      digest.update(part)
      yield part
    }
  }, createWriteStream(file))
  const sha256 = digest.digest('hex')
  const network = undiciNetwork()

  async function attempt(files: BodyStore): Promise<void> {
    const archive = recipient('archive', {
      ...{ url, allowPrivateAddresses: true, timeout: '10m', contract: {}, bodies: { files } },
    })
    const key = 'bench' as IdempotencyKey
    const bodyFrom = { store: 'files', key: 'body', length, sha256 }
    const stored = encode(archive, { method: 'PUT', path: '/body', bodyFrom }, key)
    const about = { idempotencyKey: key, key: 'bench' as EffectKey, order: null, correlation: null }
    const at = Date.now()
    const carryOut = prepare({ network, clock: systemClock }, archive, stored)
    const { outcome } = await carryOut(
      { ...about, plannedAt: at, begunAt: at },
      1,
      new AbortController().signal,
    )
    if (outcome.kind !== 'confirmed') throw new Error(outcome.why)
  }

  async function pipe(): Promise<void> {
    const outgoing = request(`${url}/body`, { method: 'PUT', headers: { 'content-length': length } })
    const answered = once(outgoing, 'response')
    await pipeline(createReadStream(file, { highWaterMark: 262_144 }), outgoing)
    const [response] = await answered
    if (response.headers.digest !== sha256) throw new Error('other bytes')
    response.resume()
  }

  const store = fileBodies(directory)
  const ways = {
    'a plain pipe': pipe,
    'an attempt, read twice': () => attempt(store),
    'an attempt, immutable': () => attempt({ ...store, immutable: true }),
  }
  const rates = new Map<string, number[]>()
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 5)
  for (let round = 0; round <= rounds; round++) {
    for (const [way, run] of Object.entries(ways)) {
      const begun = performance.now()
      await run()
      if (round > 0) rates.set(way, [...(rates.get(way) ?? []), length / 1_000 / (performance.now() - begun)])
    }
  }
  clearInterval(watch)
  print([
    ...[...rates].map(([way, all]) => [`${way}, MB/s`, spread(all)] as const),
    ['resident memory at most, MB', (most / 1e6).toFixed(0)],
  ])
  await network.close()
  service.kill()
  rmSync(directory, { recursive: true })
}
