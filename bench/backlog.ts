/**
 * Memory with a backlog: one process fills the outbox with receipts that nobody plans, another works on them; each
 * prints the largest resident memory it had: `npm run bench:backlog [-- RECEIPTS]`.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { delivery } from './deliveries.ts'
import { concurrently, print } from './figures.ts'
import { benchApp, benchDirectory } from './setup.ts'

const workMs = 30_000
const [what = '1000000', directory = '', count = '0'] = process.argv.slice(2)
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`

let peak = 0
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss())
}, 100)

if (what === 'fill') await fill(Number(count))
else if (what === 'work') await work()
else both(Number(what))
clearInterval(watch)

function both(receipts: number): void {
  const place = benchDirectory()
  for (const part of ['fill', 'work']) {
    // Held to a small heap: what grew with the backlog would not fit.
    const parameters = [
      '--max-semi-space-size=4',
      '--max-old-space-size=96',
      '--conditions=counterfoil:source',
      import.meta.filename,
      part,
      place,
      String(receipts),
    ]
    // One malloc arena: what the store's thread frees is then used again by the others (glibc only).
    const env = { ...process.env, MALLOC_ARENA_MAX: '1' }
    spawnSync(process.execPath, parameters, { stdio: 'inherit', env })
  }
  rmSync(place, { recursive: true })
}

async function fill(receipts: number): Promise<void> {
  const app = benchApp(directory)
  await app.start({ work: false })
  const marks: number[] = []
  await concurrently(receipts, 64, async (index) => {
    const response = await app.receive(delivery('b', index))
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`)
    if ((index + 1) % Math.ceil(receipts / 4) === 0) marks.push(process.memoryUsage.rss())
  })
  const { outbox } = await app.store.status()
  await app.stop()
  print([
    ['receipts waiting', outbox.waiting.toLocaleString('en')],
    ['resident while filling, at each quarter', marks.map(mb).join(', ')],
    ['largest while filling, signing included', mb(peak)],
  ])
}

async function work(): Promise<void> {
  const app = benchApp(directory)
  await app.start()
  const before = (await app.store.status()).outbox.waiting
  await new Promise((resolve) => setTimeout(resolve, workMs))
  const after = (await app.store.status()).outbox.waiting
  await app.stop()
  print([
    ['largest while working on the backlog for 30 s', mb(peak)],
    ['planned in that time', (before - after).toLocaleString('en')],
  ])
}
