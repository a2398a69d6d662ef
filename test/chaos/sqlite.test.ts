import { clock } from './kinds/clock.ts'
import { full } from './kinds/full.ts'
import { kill } from './kinds/kill.ts'
import { pause } from './kinds/pause.ts'
import { power } from './kinds/power.ts'
import { sync } from './kinds/sync.ts'
import { shortVersions } from './short.ts'

shortVersions('sqlite', [
  { kind: kill, times: 8 },
  { kind: pause, times: 2 },
  { kind: power, times: 2 },
  { kind: sync, times: 2, servers: 1 },
  { kind: full, times: 2, servers: 1 },
  { kind: clock, times: 6 },
])
