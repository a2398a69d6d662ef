/**
 * Durable receipts a second through `app.receive`, 64 senders at once, beside raw single commits of SQLite in
 * the same run: `npm run bench:intake [-- ROUNDS [RECEIPTS]]`. Rounds alternate; medians are quoted.
 */
import { rmSync } from 'node:fs'
import { delivery } from './deliveries.ts'
import { concurrently, median, percentile, print, spread } from './figures.ts'
import { singleCommits } from './raw.ts'
import { benchApp, benchDirectory } from './setup.ts'

const rounds = Number(process.argv[2] ?? 5)
const receipts = Number(process.argv[3] ?? 20_000)
const senders = 64

const single: number[] = []
const received: number[] = []
const p50: number[] = []
const p99: number[] = []
for (let round = 0; round <= rounds; round++) {
  const rate = singleCommits(2_000)
  const intake = await receiving(`r${round}`)
  // The first round only warms up.
  if (round === 0) continue
  single.push(rate)
  received.push(intake.rate)
  p50.push(percentile(intake.times, 0.5))
  p99.push(percentile(intake.times, 0.99))
}
print([
  ['raw SQLite, one row a commit, per second', spread(single)],
  [`receipts through app.receive, ${senders} senders, per second`, spread(received)],
  [
    'ratio',
    spread(
      received.map((rate, round) => rate / single[round]!),
      1,
    ),
  ],
  ['latency p50, ms', spread(p50, 2)],
  ['latency p99, ms', spread(p99, 2)],
  ['resident memory, MB', (process.memoryUsage.rss() / 1e6).toFixed(0)],
])
if (median(received) < 20 * median(single)) console.log('below the target of 20 times raw single commits')

async function receiving(run: string): Promise<{ rate: number; times: number[] }> {
  const directory = benchDirectory()
  const app = benchApp(directory)
  await app.start({ work: false })
  // Signing is the sender's work: it is done before the clock starts.
  const requests = Array.from({ length: receipts }, (_, index) => delivery(run, index))
  const begun = performance.now()
  const times = await concurrently(receipts, senders, async (index) => {
    const response = await app.receive(requests[index]!)
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
  })
  const rate = receipts / ((performance.now() - begun) / 1000)
  await app.stop()
  rmSync(directory, { recursive: true })
  return { rate, times }
}
