/**
 * Durable receipts a second through `app.receive`, 64 senders at once, beside raw single commits of SQLite in
 * the same run: `npm run bench:intake [-- ROUNDS [RECEIPTS]]`. Rounds alternate; medians are quoted.
 */
import { rmSync } from 'node:fs'
import { delivery } from './deliveries.ts'
import { concurrently, median, percentile, print, spread } from './figures.ts'
import { rowsCommitted, singleCommits } from './raw.ts'
import { benchApp, benchDirectory } from './setup.ts'

const rounds = Number(process.argv[2] ?? 5)
const receipts = Number(process.argv[3] ?? 20_000)
const senders = 64
const portion = 2_000

const single: number[] = []
const shared: number[] = []
const received: number[] = []
const platform: number[] = []
const p50: number[] = []
const p99: number[] = []
for (let round = 0; round <= rounds; round++) {
  const rate = singleCommits(2_000)
  const alone = await fetchAlone(`f${round}`)
  const intake = await receiving(`r${round}`)
  const bare = rowsCommitted(senders * 100, senders)
  // The first round only warms up.
  if (round === 0) continue
  single.push(rate)
  shared.push(bare)
  received.push(intake.rate)
  platform.push(alone)
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
  [`raw SQLite, ${senders} rows a commit, per second`, spread(shared)],
  [
    'ratio of that to single commits',
    spread(
      shared.map((rate, round) => rate / single[round]!),
      1,
    ),
  ],
  ['Request read and Response made, nothing else, per second', spread(platform)],
  [
    'receipts as a share of that',
    spread(
      received.map((rate, round) => rate / platform[round]!),
      2,
    ),
  ],
  ['latency p50, ms', spread(p50, 2)],
  ['latency p99, ms', spread(p99, 2)],
  ['resident memory, MB', (process.memoryUsage.rss() / 1e6).toFixed(0)],
])
if (median(received) < 20 * median(single)) console.log('below the target of 20 times raw single commits')

/** What the platform alone takes: a Request's body read and a Response made, nothing verified and nothing kept. */
async function fetchAlone(run: string): Promise<number> {
  return await timed(run, async (request) => {
    await request.arrayBuffer()
    return new Response('{"outcome":"accepted"}', {
      status: 202,
      headers: { 'content-type': 'application/json' },
    })
  }).then(({ rate }) => rate)
}

async function receiving(run: string): Promise<Timed> {
  const directory = benchDirectory()
  const app = benchApp(directory)
  await app.start({ work: false })
  const result = await timed(run, (request) => app.receive(request))
  await app.stop()
  rmSync(directory, { recursive: true })
  return result
}

interface Timed {
  /** Requests a second. */
  readonly rate: number
  readonly times: readonly number[]
}

/** Sends in portions: signing is the sender's work and is done while the clock stands. */
async function timed(run: string, receive: (request: Request) => Promise<Response>): Promise<Timed> {
  const times: number[] = []
  let ms = 0
  for (let sent = 0; sent < receipts; sent += portion) {
    const requests = Array.from({ length: portion }, (_, index) => delivery(run, sent + index))
    const begun = performance.now()
    const portionTimes = await concurrently(portion, senders, async (index) => {
      const response = await receive(requests[index]!)
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
    })
    ms += performance.now() - begun
    for (const time of portionTimes) times.push(time)
  }
  return { rate: times.length / (ms / 1000), times }
}
