import { cut } from './kinds/cut.ts'
import { database } from './kinds/database.ts'
import { failover } from './kinds/failover.ts'
import { kill } from './kinds/kill.ts'
import { partition } from './kinds/partition.ts'
import { pause } from './kinds/pause.ts'
import { shortVersions } from './short.ts'

shortVersions('postgres', [
  { kind: kill, times: 8, servers: 3 },
  { kind: pause, times: 2 },
  { kind: database, times: 4 },
  { kind: failover, times: 2 },
  { kind: cut, times: 12 },
  { kind: cut, times: 12, control: true },
  { kind: partition, times: 2 },
])
