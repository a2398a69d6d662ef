import { cut } from './kinds/cut.ts'
import { database } from './kinds/database.ts'
import { failover } from './kinds/failover.ts'
import { kill } from './kinds/kill.ts'
import { partition } from './kinds/partition.ts'
import { shortVersions } from './short.ts'

shortVersions('postgres', [
  { kind: kill, times: 3 },
  { kind: database, times: 2 },
  { kind: failover, times: 1 },
  { kind: cut, times: 10 },
  { kind: cut, times: 10, control: true },
  { kind: partition, times: 1 },
])
