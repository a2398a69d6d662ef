import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { debianProgram } from '../../../packages/counterfoil/src/testing/debian-program.ts'
import type { Kind } from '../kind.ts'
import { pick } from '../random.ts'
import { plainStage } from './plain-stage.ts'

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
/** In seconds. Far below any retention: a recipient that has forgotten is another matter. */
const steps = [-7_200, -30, -2, 0, 2, 30, 7_200]

export const clock: Kind = {
  name: 'clock',
  about:
    'the wall clocks of servers are stepped, by up to two hours forward and back, while they run (libfaketime)',
  unit: 'steps',
  stores: ['sqlite', 'postgres'],
  full: 100,
  episode: 50,
  everyMs: [100, 800],
  servers: 3,
  control: 'time-out-is-failure',
  missing: () => {
    debianProgram('faketime', 'faketime')
    return existsSync(library) ? undefined : 'it has no libfaketime (Debian package faketime)'
  },
  async stage(setting) {
    const { random, directory, servers } = setting
    const file = (index: number) => join(directory, `clock-${index}`)
    const step = (index: number, seconds: number) =>
      writeFileSync(file(index), `${seconds < 0 ? '' : '+'}${seconds}`)
    const all = Array.from({ length: servers }, (_, index) => index)
    for (const index of all) step(index, 0)
    return await plainStage(setting, async () => step(pick(random, all), pick(random, steps)), {
      fleet: {
        server: (index) => ({
          environment: () => ({
            LD_PRELOAD: library,
            FAKETIME_TIMESTAMP_FILE: file(index),
            FAKETIME_NO_CACHE: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
          }),
        }),
      },
      async calm() {
        for (const index of all) step(index, 0)
      },
    })
  },
}
