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
export { type EffectAct, type EffectAction, effectActs } from './effect-actions.ts'
export { answerProposal, decideOnEffect, type EffectAnswer } from './effect-decide.ts'
export {
  type EffectPage,
  effectReach,
  listEffects,
  listUnknown,
  readEffectRequest,
  type ShownEffect,
  showEffect,
  shown,
} from './effects.ts'
export {
  type ErasurePlan,
  type ErasureQuery,
  type ErasureRun,
  planErasure,
  runErasure,
} from './erase-many.ts'
export {
  type Comparison,
  compareListing,
  effectsSince,
  type ListedAct,
  parseListing,
} from './listing.ts'
export { actsOf, authorise, isRole, type Operator, type OperatorAct } from './operator.ts'
export { type Overview, overview } from './overview.ts'
export type { Evidence, Proposal } from './proposal.ts'
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
export { listReceipts, readReceiptPayload, type ShownReceipt, showReceipt } from './receipts.ts'
export { healthOf, type SurveyedHealth } from './recipient-health.ts'
export { listRecipients, type ShownRecipient } from './recipients.ts'
export {
  applyRetention,
  type ErasureSubject,
  erase,
  planRetention,
  type RetentionHorizons,
  type RetentionPlan,
  retentionHorizons,
} from './retention.ts'
export { sampleEachMinute } from './samples.ts'
export { search } from './search.ts'
export type { StoryLine, ToldEffect } from './story.ts'
export { type UnsupportedType, unsupportedTypes } from './unsupported.ts'
