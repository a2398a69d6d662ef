/** Every figure that is taken, by group. A contender is loaded only in the process that measures it. */
import type { Contender, Place } from './contender.ts'
import { type Amounts, type Figure, fill, idleTimes, sendingRate, workingRate } from './measure.ts'

export interface Case {
  readonly group: Group
  readonly name: string
  /** `ours`, a `peer`, or the `floor` that PostgreSQL alone gives. */
  readonly kind: 'ours' | 'peer' | 'floor'
  /** Its effect is one HTTP call to the sink. */
  readonly calls?: boolean
  /** Share of the waiting items: slow contenders get fewer, so that a figure takes seconds and not minutes. */
  readonly share?: number
  /** Beside old finished items. */
  readonly aged?: boolean
  /** What comes first, in a process of its own. */
  fill?(place: Place, amounts: Amounts): Promise<void>
  measure(place: Place, amounts: Amounts): Promise<Figure>
}

export const groups = ['intake', 'calls', 'no-op', 'idle', 'history'] as const
export type Group = (typeof groups)[number]

/** Ends the name of a case of `history`; the rest is the name of the one beside nothing. */
export const besideOld = ' beside old ones'

type Load = () => Promise<Contender>

const from = <Name extends string>(contenders: () => Promise<Record<Name, Contender>>, name: Name): Load => {
  return async () => (await contenders())[name]
}
const bare = () => import('./contenders/bare.ts')
const ours = () => import('./contenders/counterfoil.ts')
const boss = () => import('./contenders/pg-boss.ts')
const pgBoss = from(boss, 'pgBoss')
const graphile = from(() => import('./contenders/graphile-worker.ts'), 'graphileWorker')
const dbos = from(() => import('./contenders/dbos.ts'), 'dbos')

const peers: readonly (readonly [name: string, load: Load, share: number])[] = [
  ['pg-boss', pgBoss, 1],
  ['graphile-worker', graphile, 1],
  ['DBOS', dbos, 0.1],
]

type About = Pick<Case, 'kind' | 'name'> & Partial<Pick<Case, 'share' | 'aged'>>

const intake = (load: Load, about: About): Case => ({
  ...about,
  group: 'intake',
  measure: async (place, amounts) => await sendingRate(await load(), place, amounts),
})

const work = (
  group: 'calls' | 'no-op' | 'history',
  load: Load,
  about: About,
  start: 'a tenth' | 'start' = 'a tenth',
): Case => ({
  ...about,
  group,
  calls: group === 'calls',
  fill: async (place, amounts) => await fill(await load(), place, amounts),
  measure: async (place, amounts) => await workingRate(await load(), place, amounts, start),
})

const idle = (load: Load, about: About): Case => ({
  ...about,
  group: 'idle',
  measure: async (place, amounts) => await idleTimes(await load(), place, amounts),
})

export const cases: readonly Case[] = [
  intake(from(bare, 'single'), { kind: 'floor', name: 'bare insert, a statement a row' }),
  intake(from(bare, 'shared'), { kind: 'floor', name: 'bare insert, shared' }),
  intake(from(ours, 'accept'), { kind: 'ours', name: 'Counterfoil, store.accept' }),
  intake(from(ours, 'receive'), { kind: 'ours', name: 'Counterfoil, app.receive' }),
  ...peers.map(([name, load]) => intake(load, { kind: 'peer', name })),

  ...(['calls', 'no-op'] as const).flatMap((group) => [
    work(group, from(ours, 'effects'), { kind: 'ours', name: 'Counterfoil, effects' }),
    work(group, from(ours, 'wholeWay'), { kind: 'ours', name: 'Counterfoil, receipts to effects' }, 'start'),
    ...peers.map(([name, load, share]) => work(group, load, { kind: 'peer', name, share })),
    work(group, from(boss, 'pgBossPerJob'), { kind: 'peer', name: 'pg-boss, a result a job' }),
  ]),

  idle(from(bare, 'twoCommits'), { kind: 'floor', name: 'two commits, then the effect' }),
  idle(from(ours, 'wholeWay'), { kind: 'ours', name: 'Counterfoil' }),
  ...peers.map(([name, load]) => idle(load, { kind: 'peer', name })),

  ...[false, true].flatMap((aged) => {
    const beside = aged ? besideOld : ''
    return [
      work('history', from(ours, 'effects'), { kind: 'ours', name: `Counterfoil${beside}`, aged }),
      work('history', pgBoss, { kind: 'peer', name: `pg-boss${beside}`, aged }),
    ]
  }),
]
