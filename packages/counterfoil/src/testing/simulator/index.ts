export { type Invariant, invariants, type Violation, violationsOf } from './checks/index.ts'
export type { Examples } from './examples.ts'
export { type Fault, type FaultKind, faultKinds } from './faults.ts'
export type { Finding } from './finding.ts'
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
export { type Study, type StudyOptions, simulateConfig, study } from './study.ts'
export { Tally, type TallyRecord } from './tally.ts'
