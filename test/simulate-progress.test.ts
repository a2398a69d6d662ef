import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { simulate, Tally } from 'counterfoil/testing'
import { Progress, type Report } from '../scripts/simulate-progress.ts'

const directory = mkdtempSync(join(tmpdir(), 'simulate-'))
after(() => rmSync(directory, { recursive: true }))
const revision = 'abc'

function reportOf(schedules: number, failed: readonly number[] = []): Report {
  const tally = { schedules, faults: 30 * schedules, steps: 0, byFault: [], byShape: [], byInvariant: [] }
  return { tally, cpuMs: schedules, failed }
}

test('seeds that were handed out and not reported are handed out again, before new ones', () => {
  const file = join(directory, 'killed')
  const killed = new Progress({ from: 10, revision, file })
  const first = killed.take(100, 20)
  const second = killed.take(100, 20)
  const third = killed.take(100, 20)
  assert.deepEqual(
    [first, second, third],
    [
      [10, 30],
      [30, 50],
      [50, 70],
    ],
  )
  killed.done(second!, reportOf(20, [33]))

  const again = new Progress({ from: 10, revision: 'def', file })
  assert.equal(again.total.schedules, 20)
  assert.deepEqual(again.failed, [33])
  const rest = [1, 2, 3, 4, 5].map(() => again.take(100, 20))
  assert.deepEqual(rest, [[10, 30], [50, 70], [70, 90], [90, 100], undefined])
  for (const range of rest) if (range !== undefined) again.done(range, reportOf(range[1] - range[0]))
  assert.equal(again.total.schedules, 90)
  assert.equal(again.total.faults, 30 * 90)
  assert.deepEqual(
    again.sittings.map(({ revision: of, schedules, cpuMs }) => [of, schedules, cpuMs]),
    [
      ['abc', 20, 20],
      ['def', 70, 70],
    ],
  )
})

test('a run that is over goes on to a later end', () => {
  const file = join(directory, 'longer')
  const short = new Progress({ from: 0, revision, file })
  short.done(short.take(5, 10)!, reportOf(5))
  const longer = new Progress({ from: 0, revision, file })
  assert.equal(longer.take(5, 10), undefined)
  assert.deepEqual(longer.take(8, 10), [5, 8])
})

test('a file of a run from another seed is not added to', () => {
  const file = join(directory, 'elsewhere')
  const one = new Progress({ from: 0, revision, file })
  one.done(one.take(5, 10)!, reportOf(5))
  assert.throws(() => new Progress({ from: 5, revision, file }), /give --from 0/)
})

test('the command, killed in the middle and called again, has played each seed once', async () => {
  const file = join(directory, 'command')
  const script = join(import.meta.dirname, '../scripts/simulate.ts')
  const args = ['--seeds', '8', '--portion', '2', '--workers', '1', '--progress', file]
  const command = () => spawn(process.execPath, [...process.execArgv, script, ...args])
  const killed = command()
  await new Promise((resolve) => killed.stdout.once('data', resolve))
  killed.kill('SIGKILL')
  await new Promise((resolve) => killed.once('exit', resolve))
  const kept = JSON.parse(readFileSync(file, 'utf8'))
  assert.ok(kept.tally.schedules >= 2 && kept.tally.schedules < 8, `${kept.tally.schedules} at the kill`)

  const again = command()
  let told = ''
  again.stdout.on('data', (text) => {
    told += text
  })
  assert.equal(await new Promise((resolve) => again.once('exit', resolve)), 0)
  assert.match(told, /Seeds 0 to 7: 0 failed; \d+ a second of one core, \d+\.\d faults each\./)
  const atOnce = new Tally()
  for (let seed = 0; seed < 8; seed++) atOnce.add(await simulate(seed))
  const sorted = ({ byFault, byShape, byInvariant, ...rest }: ReturnType<Tally['toJSON']>) => ({
    ...rest,
    byFault: Object.fromEntries(byFault),
    byShape: Object.fromEntries(byShape),
    byInvariant: Object.fromEntries(byInvariant),
  })
  assert.deepEqual(sorted(JSON.parse(readFileSync(file, 'utf8')).tally), sorted(atOnce.toJSON()))
})
