export { type CrashableCall, crashableCalls, faultyStore, type StoreFault } from './faulty-store.ts'
export { type History, violations } from './invariants.ts'
export { mortalNetwork } from './mortal-network.ts'
export { type Act, type MemoryOptions, RecipientMemory } from './recipient-memory.ts'
export { seededRandom } from './seeded-random.ts'
export { SimulatedProcess } from './simulated-process.ts'
export {
  type NetworkFault,
  SimulatedRecipient,
  type SimulatedRecipientOptions,
} from './simulated-recipient.ts'
export {
  type Fault,
  type FaultKind,
  faultKinds,
  type Invariant,
  invariants,
  type ShapeName,
  type Shrunk,
  type Simulated,
  type SimulatedHistory,
  type SimulateOptions,
  shapeNames,
  shrink,
  simulate,
  Tally,
  type TallyRecord,
  type Violation,
  violationsOf,
} from './simulator/index.ts'
export { VirtualClock } from './virtual-clock.ts'
