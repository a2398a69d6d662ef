/**
 * Effects a second, from the delivery to the recorded confirmation of its one HTTP call, and how long one
 * takes on an idle system; beside raw single commits in the same run: `npm run bench:effects [-- ROUNDS [EFFECTS]]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Counterfoil } from 'counterfoil'
import { delivery } from './deliveries.ts'
import { concurrently, percentile, print, spread } from './figures.ts'
import { singleCommits } from './raw.ts'
import { benchApp, benchDirectory } from './setup.ts'

const rounds = Number(process.argv[2] ?? 5)
const effects = Number(process.argv[3] ?? 5_000)
const idle = 100

const sink = spawn(process.execPath, [join(import.meta.dirname, 'sink.ts')], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const [line] = (await once(sink.stdout, 'data')) as [Buffer]
const sinkUrl = line.toString().trim()

const single: number[] = []
const done: number[] = []
const idleTimes: number[] = []
for (let round = 0; round <= rounds; round++) {
  const raw = singleCommits(1_000)
  const directory = benchDirectory()
  const app = benchApp(directory, sinkUrl)
  await app.start()
  const rate = await throughput(app, `e${round}`)
  const times = await oneByOne(app, `i${round}`)
  await app.stop()
  rmSync(directory, { recursive: true })
  if (round === 0) continue
  single.push(raw)
  done.push(rate)
  idleTimes.push(...times)
}
sink.kill()
print([
  ['raw SQLite, one row a commit, per second', spread(single)],
  ['effects end to end, per second', spread(done)],
  [
    'ratio',
    spread(
      done.map((rate, round) => rate / single[round]!),
      2,
    ),
  ],
  ['idle, delivery to recorded confirmation, p50 ms', percentile(idleTimes, 0.5).toFixed(2)],
  ['idle, delivery to recorded confirmation, p99 ms', percentile(idleTimes, 0.99).toFixed(2)],
  ['resident memory, MB', (process.memoryUsage.rss() / 1e6).toFixed(0)],
])

async function throughput(app: Counterfoil, run: string): Promise<number> {
  const requests = Array.from({ length: effects }, (_, index) => delivery(run, index))
  const begun = performance.now()
  await concurrently(effects, 64, async (index) => {
    await app.receive(requests[index]!)
  })
  while ((await app.store.status()).effects.byState.confirmed < effects)
    await new Promise((resolve) => setTimeout(resolve, 10))
  return effects / ((performance.now() - begun) / 1000)
}

async function oneByOne(app: Counterfoil, run: string): Promise<number[]> {
  const before = (await app.store.status()).effects.byState.confirmed
  return await concurrently(idle, 1, async (index) => {
    await app.receive(delivery(run, index))
    while ((await app.store.status()).effects.byState.confirmed <= before + index)
      await new Promise((resolve) => setImmediate(resolve))
  })
}
