import { CuttingProxy } from '../../../packages/counterfoil/src/store/postgres/fixtures/proxy.ts'
import type { Kind } from '../kind.ts'
import { postgresPlace, startServer } from '../places.ts'
import { pick } from '../random.ts'
import { plainStage } from './plain-stage.ts'

/** Each step of the protocol, by a text of the message that asks for its commit. */
const steps = {
  accept: 'counterfoil_accept',
  plan: 'counterfoil_plan',
  // A plan whose trigger ran statements of its own: the message is the statement.
  'plan with rows of the program': 'commit\0',
  begin: 'counterfoil_take_due',
  repeat: 'counterfoil_begin_repeat',
  settle: 'counterfoil_settle',
} as const
const realities = ['before', 'after'] as const
/** A step that is not taken in this time is let go: repeats need an unknown effect. */
const patienceMs = 8_000

export const cut: Kind = {
  name: 'cut',
  about:
    'the connection to PostgreSQL is cut at COMMIT: before it came there, or after it was done; at each step',
  unit: 'cuts',
  stores: ['postgres'],
  full: 200,
  episode: 50,
  everyMs: [0, 100],
  servers: 2,
  control: 'failure-is-committed',
  async stage(setting) {
    const { random } = setting
    const server = await startServer(setting)
    const place = await postgresPlace(() => server)
    const proxy = await CuttingProxy.start(() => server.port)
    setting.defer(() => proxy.dispose())
    let turn = 0
    const strike = async (): Promise<void> => {
      const names = Object.keys(steps) as (keyof typeof steps)[]
      const step = names[turn++ % names.length]!
      const made = proxy.arm({ text: steps[step], when: pick(random, realities) })
      const late = new Promise((resolve) => setTimeout(resolve, patienceMs, 'late').unref())
      if ((await Promise.race([made, late])) === 'late') return await strike()
    }
    return await plainStage(setting, strike, { place: { ...place, store: proxy.url } })
  },
}
