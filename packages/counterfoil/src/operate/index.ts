export { type AuditVerification, listAudit, verifyAudit } from './audit.ts'
export {
  approveBackfill,
  type BackfillAnswer,
  beginBackfill,
  listBackfills,
  pauseBackfill,
  resumeBackfill,
  showBackfill,
} from './backfill.ts'
export { maxShown, type PlanRequest, planBackfill } from './backfill-plan.ts'
export { type BackfillProgress, progressOf } from './backfill-progress.ts'
export { type BackfillTurn, takeIn } from './backfill-run.ts'
export { type BackfillWorker, newWorker, startBackfillWorker } from './backfill-worker.ts'
export { contractInWords } from './contract-in-words.ts'
export { Credentials, minTokenLength, newToken, operatorNamed } from './credentials.ts'
export type { Act, Decision } from './decision.ts'
export {
  type Comparison,
  compareListing,
  effectsSince,
  type ListedAct,
  parseListing,
} from './listing.ts'
export { authorise, isRole, type Operator } from './operator.ts'
export {
  assign,
  dismiss,
  listQuarantine,
  type QuarantineAnswer,
  readQuarantinePayload,
  reprocess,
  showQuarantine,
} from './quarantine.ts'
export { filterNames, type NamedFilter, readFilter } from './quarantine-filter.ts'
export {
  type DryRun,
  dryRunMany,
  type ManyAct,
  type ManyRun,
  type QuarantineFilter,
  runMany,
} from './quarantine-many.ts'
export { type StoryLine, type ToldEffect, tell } from './story.ts'
export { type UnsupportedType, unsupportedTypes } from './unsupported.ts'
