/**
 * Memory with a backlog: fills the outbox with receipts that nobody plans, then lets the engine work on them,
 * and prints the largest resident memory seen: `npm run bench:backlog [-- RECEIPTS]`.
 */
import { rmSync } from 'node:fs'
import { delivery } from './deliveries.ts'
import { concurrently, print } from './figures.ts'
import { benchApp, benchDirectory } from './setup.ts'

const receipts = Number(process.argv[2] ?? 1_000_000)
const directory = benchDirectory()
let peak = 0
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 100)

const filling = benchApp(directory)
await filling.start({ work: false })
let marks: number[] = []
await concurrently(receipts, 256, async (index) => {
  const response = await filling.receive(delivery('b', index))
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
  if (index % Math.ceil(receipts / 4) === 0) marks = [...marks, process.memoryUsage.rss()]
})
const filled = peak
await filling.stop()

peak = 0
const working = benchApp(directory)
await working.start()
const before = (await working.store.status()).outbox.waiting
await new Promise((resolve) => setTimeout(resolve, 30_000))
const after = (await working.store.status()).outbox.waiting
await working.stop()
clearInterval(watch)
rmSync(directory, { recursive: true })
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
print([
  ['receipts waiting', receipts.toLocaleString('en')],
  ['resident while filling, at each quarter', marks.map(mb).join(', ')],
  ['largest while filling', mb(filled)],
  ['largest while working on the backlog for 30 s', mb(peak)],
  ['planned in those 30 s', (before - after).toLocaleString('en')],
])
