export { type BackfillIntake, type BackfillPorts, backfillIntake } from './backfill-intake.ts'
export { type BackfillItem, beginning, type ListEvents, type Place } from './item.ts'
export type { ReadItem } from './read-item.ts'
export { sourceAt } from './read-source.ts'
