/**
 * Counterfoil beside its peers and beside bare inserts, on one PostgreSQL, in one run: `npm run bench:peers [-- OPTIONS]`.
 *
 *   --rounds 5       each round takes every case once, in another order
 *   --seconds 3      how long items are sent, after a warm-up of 2,000 items
 *   --waiting 20000  items that wait when work begins (DBOS gets a tenth of them)
 *   --events 200     single events on an idle system
 *   --old 1000000    finished items for the group `history`
 *   --callers 64     callers that wait for a commit of their own at once
 *   --group NAME     only this group; may be given more than once
 *   --only TEXT      only cases whose name has this text
 *   --report DIR     where figures.json, report.md and report.svg go
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { type Case, cases } from './cases.ts'
import type { Place } from './contender.ts'
import { describeMachine } from './machine.ts'
import type { Amounts, Figure } from './measure.ts'
import { plot } from './plot.ts'
import { type Measured, report } from './report.ts'
import { type Server, settings, startServer } from './server.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    waiting: { type: 'string', default: '20000' },
    events: { type: 'string', default: '200' },
    old: { type: 'string', default: '1000000' },
    callers: { type: 'string', default: '64' },
    group: { type: 'string', multiple: true },
    only: { type: 'string' },
    report: { type: 'string', default: join(import.meta.dirname, 'report') },
  },
})
const amounts: Amounts = {
  callers: Number(values.callers),
  seconds: Number(values.seconds),
  waiting: Number(values.waiting),
  events: Number(values.events),
  old: Number(values.old),
}
const chosen = cases.filter(
  ({ group, name }) =>
    (values.group?.includes(group) ?? true) && (values.only === undefined || name.includes(values.only)),
)

const server = await startServer(process.env.BENCH_DIR ?? process.cwd())
const sink = spawn(process.execPath, [join(import.meta.dirname, '../sink.ts')], {
  stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
})
const [line] = (await once(sink.stdout!, 'data')) as [Buffer]
const sinkUrl = line.toString().trim()

const machine = [
  ...describeMachine(),
  server.version,
  Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', '),
  `${values.rounds} rounds; ${Object.entries(amounts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')}`,
]
const measured: Measured[] = []
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const one of rotated(chosen, round)) {
      const figure = await measure(server, one)
      measured.push({ group: one.group, name: one.name, kind: one.kind, round, figure })
      console.log(`${round + 1}  ${one.group}  ${one.name}  ${JSON.stringify(figure)}`)
    }
    save()
  }
} finally {
  sink.disconnect()
  await server.stop()
}
console.log(`\n${report(machine, cases, measured)}`)

/** After each round: a run that is cut short leaves what it has. */
function save(): void {
  mkdirSync(values.report, { recursive: true })
  writeFileSync(join(values.report, 'figures.json'), JSON.stringify({ machine, measured }, null, 1))
  writeFileSync(join(values.report, 'report.md'), report(machine, cases, measured))
  writeFileSync(join(values.report, 'report.svg'), plot(machine, cases, measured))
}

/** Another order each round, so that no case always follows the same one or always comes first. */
function rotated(all: readonly Case[], round: number): Case[] {
  const by = (round * Math.ceil(all.length / 3)) % all.length
  const turned = [...all.slice(by), ...all.slice(0, by)]
  return round % 2 === 0 ? turned : turned.reverse()
}

async function measure(on: Server, one: Case): Promise<Figure> {
  const place: Place = {
    url: await on.create(),
    postmaster: on.pid,
    sink: one.calls === true ? sinkUrl : null,
  }
  const own: Amounts = {
    ...amounts,
    waiting: Math.ceil(amounts.waiting * (one.share ?? 1)),
    old: one.aged === true ? amounts.old : 0,
  }
  if (one.fill !== undefined) await stage('fill', one, place, own)
  const figure = JSON.parse(await stage('measure', one, place, own)) as Figure
  await on.drop(place.url)
  return figure
}

/** @returns the last line that the process printed */
async function stage(name: 'fill' | 'measure', one: Case, place: Place, own: Amounts): Promise<string> {
  const parameters = [
    // Among them the condition that makes it the source that is measured.
    ...process.execArgv,
    ...(one.kind === 'ours' ? ['--max-semi-space-size=8'] : []),
    join(import.meta.dirname, 'case.ts'),
    name,
    one.group,
    one.name,
    JSON.stringify(place),
    JSON.stringify(own),
  ]
  // As docs/performance.md has it for memory.
  const env = { ...process.env, ...(one.kind === 'ours' ? { MALLOC_ARENA_MAX: '1' } : {}) }
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { timeout: 3_600_000, env })
  return stdout.trimEnd().split('\n').at(-1)!
}
