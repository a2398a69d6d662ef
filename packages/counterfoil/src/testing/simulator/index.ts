export { type Invariant, invariants, type Violation, violationsOf } from './checks/index.ts'
export { type Fault, type FaultKind, faultKinds } from './faults.ts'
export type {
  Entry,
  FinalRecords,
  History as SimulatedHistory,
  PlannedDelivery,
  PlannedOperation,
  Promises,
} from './history.ts'
export { type ShapeName, shapeNames } from './shapes.ts'
export { type Shrunk, shrink } from './shrink.ts'
export { type Simulated, type SimulateOptions, simulate } from './simulate.ts'
export { Tally, type TallyRecord } from './tally.ts'
