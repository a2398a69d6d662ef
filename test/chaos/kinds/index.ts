import type { Kind } from '../kind.ts'
import { clock } from './clock.ts'
import { cut } from './cut.ts'
import { database } from './database.ts'
import { failover } from './failover.ts'
import { full } from './full.ts'
import { kill } from './kill.ts'
import { partition } from './partition.ts'
import { pause } from './pause.ts'
import { power } from './power.ts'
import { sync } from './sync.ts'

export const kinds: readonly Kind[] = [
  kill,
  pause,
  database,
  failover,
  cut,
  partition,
  power,
  sync,
  full,
  clock,
]
