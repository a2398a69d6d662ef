/** Every figure that is taken, by group. A contender is loaded only in the process that measures it. */
import type { Contender, Place } from './contender.ts'
import { type Amounts, type Figure, idleTimes, sendingRate, workingRate } from './measure.ts'

export interface Case {
  readonly group: Group
  readonly name: string
  /** `ours`, a `peer`, or the `floor` that PostgreSQL alone gives. */
  readonly kind: 'ours' | 'peer' | 'floor'
  /** Needs the sink: its effect is one HTTP call. */
  readonly calls?: boolean
  /** Share of the waiting items: slow contenders get fewer, so that a figure takes seconds and not minutes. */
  readonly share?: number
  /** Beside old finished items. */
  readonly aged?: boolean
  measure(place: Place, amounts: Amounts): Promise<Figure>
}

export const groups = ['intake', 'calls', 'no-op', 'idle', 'history'] as const
export type Group = (typeof groups)[number]

type Load = () => Promise<Contender>

const bare = async () => await import('./contenders/bare.ts')
const single: Load = async () => (await bare()).single
const shared: Load = async () => (await bare()).shared
const twoCommits: Load = async () => (await bare()).twoCommits
const pgBoss: Load = async () => (await import('./contenders/pg-boss.ts')).pgBoss
const pgBossPerJob: Load = async () => (await import('./contenders/pg-boss.ts')).pgBossPerJob
const graphile: Load = async () => (await import('./contenders/graphile-worker.ts')).graphileWorker
const dbos: Load = async () => (await import('./contenders/dbos.ts')).dbos

const peers: readonly (readonly [name: string, load: Load, share: number])[] = [
  ['pg-boss', pgBoss, 1],
  ['graphile-worker', graphile, 1],
  ['DBOS', dbos, 0.1],
]

const intake = (kind: Case['kind'], name: string, load: Load): Case => ({
  group: 'intake',
  name,
  kind,
  measure: async (place, amounts) => await sendingRate(await load(), place, amounts),
})

const work = (group: 'calls' | 'no-op', kind: Case['kind'], name: string, load: Load, share = 1): Case => ({
  group,
  name,
  kind,
  calls: group === 'calls',
  share,
  measure: async (place, amounts) => await workingRate(await load(), place, amounts),
})

const idle = (kind: Case['kind'], name: string, load: Load): Case => ({
  group: 'idle',
  name,
  kind,
  measure: async (place, amounts) => await idleTimes(await load(), place, amounts),
})

const history = (kind: Case['kind'], name: string, load: Load, aged: boolean): Case => ({
  group: 'history',
  name,
  kind,
  aged,
  measure: async (place, amounts) => await workingRate(await load(), place, amounts),
})

const workGroups = ['calls', 'no-op'] as const

export const cases: readonly Case[] = [
  intake('floor', 'bare insert, one statement a row', single),
  intake('floor', 'bare insert, shared', shared),
  ...peers.map(([name, load]) => intake('peer', name, load)),

  ...workGroups.flatMap((group) => [
    ...peers.map(([name, load, share]) => work(group, 'peer', name, load, share)),
    work(group, 'peer', 'pg-boss, a result a job', pgBossPerJob),
  ]),

  idle('floor', 'two commits, then the effect', twoCommits),
  ...peers.map(([name, load]) => idle('peer', name, load)),

  history('peer', 'pg-boss', pgBoss, false),
  history('peer', 'pg-boss beside old items', pgBoss, true),
]
