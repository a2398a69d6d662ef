import { clock } from './kinds/clock.ts'
import { full } from './kinds/full.ts'
import { kill } from './kinds/kill.ts'
import { pause } from './kinds/pause.ts'
import { power } from './kinds/power.ts'
import { sync } from './kinds/sync.ts'
import { shortVersions } from './short.ts'

shortVersions('sqlite', [
  { kind: kill, times: 3 },
  { kind: pause, times: 1 },
  { kind: power, times: 1 },
  { kind: sync, times: 1, servers: 1 },
  { kind: full, times: 1, servers: 1 },
  { kind: clock, times: 3 },
])
