/** The twelve situations. Each is played on each system in the same way, on processes that are really killed and paused. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from './stage.ts'
import { type Event, keyMs, type Promises, type Setting, shortMs } from './system.ts'
import { type Seen, tellsActs, tellsOfOther, type Verdict } from './verdict.ts'

export interface Situation {
  readonly name: string
  readonly variants: readonly Variant[]
  play(stage: Stage): Promise<void>
  /** Can someone tell afterwards what happened? */
  tells(seen: Seen): Verdict
  /** What is right: how often the recipient should have acted. */
  readonly acts: number
}

export interface Variant {
  readonly name: string
  readonly setting: Partial<Omit<Setting, 'recipient'>>
  /** Only for systems that leave this choice to their user; Counterfoil has no such switch. */
  readonly choice?: true
}

const usual: Omit<Setting, 'recipient'> = {
  promises: { keysMs: null, lookup: false, fence: false },
  jobIs: 'the event',
  retries: true,
  keeps: 'for ever',
  leaseMs: 10_000,
  callTimeoutMs: 20_000,
  poison: 'throws',
}

export function settingOf({ setting }: Variant): Omit<Setting, 'recipient'> {
  return { ...usual, ...setting }
}

const keyed: Promises = { keysMs: 'for ever', lookup: false, fence: false }
const asked: Promises = { keysMs: null, lookup: true, fence: false }
const threeRecipients: readonly Variant[] = [
  { name: 'recipient takes a key', setting: { promises: keyed } },
  { name: 'recipient can only be asked', setting: { promises: asked } },
  { name: 'neither', setting: {} },
]

function paid(id: string, invoice = '481', amount = 100): Event {
  return { id, type: 'invoice.paid', data: { invoice, customer: 'acme', amount, version: 1 } }
}

function changed(id: string, version: number): Event {
  return { id, type: 'plan.changed', data: { invoice: '481', customer: 'acme', amount: version, version } }
}

const acted = (seen: Seen) => tellsActs(seen, '481')

export const situations: readonly Situation[] = [
  {
    name: 'answer lost after the act',
    acts: 1,
    variants: [
      ...threeRecipients,
      { name: 'neither, and no retries', setting: { retries: false }, choice: true },
    ],
    async play(stage) {
      await stage.start()
      await stage.act('lose')
      await stage.deliver(paid('evt-1'))
      await stage.settle()
    },
    tells: acted,
  },
  {
    name: 'crash after the act',
    acts: 1,
    variants: threeRecipients,
    async play(stage) {
      await actAndCrash(stage)
      await stage.replace()
      await stage.settle()
    },
    tells: acted,
  },
  {
    name: 'lease expired while paused',
    acts: 1,
    variants: threeRecipients,
    async play(stage) {
      const paused = await stage.start('worker-1', { waits: true })
      await stage.deliver(paid('evt-1'))
      await paused.aboutToCall
      paused.pause()
      const other = await stage.start()
      await other.ask('leaseEnds')
      await stage.settle()
      // What ends an overrun process by itself has done so by now.
      if (stage.system.endsOverrun) await paused.kill()
      else paused.goOn()
      await stage.settle()
    },
    tells: acted,
  },
  {
    name: 'key pruned at the recipient',
    acts: 1,
    variants: [
      {
        name: `key kept for ${keyMs / 1000} s`,
        setting: { promises: { ...keyed, keysMs: keyMs }, callTimeoutMs: keyMs - 1_000 },
      },
      {
        name: `key kept for ${keyMs / 1000} s, can be asked for ever`,
        setting: {
          promises: { keysMs: keyMs, lookup: true, fence: false },
          callTimeoutMs: keyMs - 1_000,
        },
      },
    ],
    async play(stage) {
      await actAndCrash(stage)
      await sleep(keyMs + 200)
      await stage.replace()
      await stage.settle()
    },
    tells: acted,
  },
  {
    name: 'old event after a new one',
    acts: 1,
    variants: [
      { name: 'recipient compares versions', setting: { promises: { ...keyed, fence: true } } },
      { name: 'it does not', setting: { promises: keyed } },
    ],
    async play(stage) {
      await stage.start()
      await stage.deliver(changed('evt-new', 2))
      await stage.settle()
      await stage.deliver(changed('evt-old', 1))
      await stage.settle()
    },
    tells: (seen) => tellsOfOther(seen, 'evt-old'),
  },
  {
    name: 'other payload under one key',
    acts: 1,
    variants: [
      {
        name: 'recipient takes a key; jobs named by operation',
        setting: { promises: keyed, jobIs: 'the operation' },
      },
      { name: 'recipient takes a key; jobs named by event', setting: { promises: keyed }, choice: true },
    ],
    async play(stage) {
      await stage.start()
      await stage.deliver(paid('evt-1', '481', 100))
      await stage.settle()
      await stage.deliver(paid('evt-2', '481', 222))
      await stage.settle()
    },
    tells: (seen) => tellsOfOther(seen, '222'),
  },
  {
    name: 'same id with other bytes',
    acts: 1,
    variants: [{ name: 'jobs named by event', setting: {} }],
    async play(stage) {
      await stage.start()
      await stage.deliver(paid('evt-1', '481', 100))
      await stage.settle()
      await stage.deliver(paid('evt-1', '482', 222))
      await stage.settle()
    },
    tells: (seen) => tellsOfOther(seen, '222'),
  },
  {
    name: 'two events for one effect',
    acts: 1,
    variants: [
      { name: 'recipient takes a key; jobs named by event', setting: { promises: keyed } },
      { name: 'neither; jobs named by operation', setting: { jobIs: 'the operation' } },
      { name: 'neither; jobs named by event', setting: {}, choice: true },
    ],
    async play(stage) {
      await stage.start()
      await stage.deliver(paid('evt-paid'))
      await stage.settle()
      await stage.deliver({ ...paid('evt-succeeded'), type: 'payment.succeeded' })
      await stage.settle()
    },
    tells(seen) {
      const onRecord = seen.records.some(({ holds }) => holds.includes('evt-succeeded'))
      const verdict = acted(seen)
      return verdict === 'yes' && !onRecord ? 'in part: nothing of the second event is on record' : verdict
    },
  },
  {
    name: 'replay after retention',
    acts: 1,
    variants: [
      { name: `finished work kept for ${shortMs / 1000} s`, setting: { keeps: 'for a time' } },
      { name: 'kept for ever', setting: {}, choice: true },
    ],
    async play(stage) {
      const worker = await stage.start()
      await stage.deliver(paid('evt-1'))
      await stage.settle()
      await sleep(shortMs + 1_500)
      // Some remove what is old only when something else finishes.
      await stage.deliver(paid('evt-2', '999'))
      await stage.settle()
      await worker.ask('forget')
      await stage.deliver(paid('evt-1'))
      await stage.settle()
    },
    tells: acted,
  },
  {
    name: 'unsupported type',
    acts: 0,
    variants: [{ name: '', setting: {} }],
    async play(stage) {
      await stage.start()
      await stage.deliver({ ...paid('evt-1'), type: 'invoice.archived' })
      await stage.settle()
    },
    tells: (seen) => tellsOfOther(seen, 'invoice.archived'),
  },
  {
    name: 'poison event',
    acts: 1,
    variants: [
      { name: 'its code throws', setting: {} },
      {
        name: 'its code kills the process; recipient takes a key',
        setting: { poison: 'kills the process', promises: keyed },
      },
    ],
    async play(stage) {
      await stage.supervise()
      await stage.deliver({ ...paid('evt-1', '400'), type: 'invoice.broken' })
      await sleep(500)
      await stage.deliver(paid('evt-2'))
      await stage.settle(120_000)
    },
    tells: (seen) => tellsOfOther(seen, 'invoice.broken'),
  },
  {
    name: 'duplicate storm',
    acts: 1,
    variants: [{ name: '200 at once, two processes', setting: {} }],
    async play(stage) {
      const workers = [await stage.start('worker-1'), await stage.start('worker-2')]
      const sent = Array.from({ length: 200 }, (_, index) =>
        stage.deliverTo(workers[index % workers.length]!, paid('evt-1')),
      )
      stage.answers.push(...(await Promise.all(sent)))
      await stage.settle()
    },
    tells: acted,
  },
]

/** The recipient acts, and the process dies before it reads the answer. */
async function actAndCrash(stage: Stage): Promise<void> {
  const worker = await stage.start()
  await stage.act('hold')
  await stage.deliver(paid('evt-1'))
  await stage.untilActed()
  await worker.kill()
}
