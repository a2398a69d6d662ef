export { type AlertDelivery, type AlertNotice, alertTo } from './alert.ts'
export { decide, type OperatorFact } from './decide.ts'
export { inquire } from './effects.ts'
export { createEngine, type Engine, type EnginePorts, type EngineSettings } from './engine.ts'
export { forget, forgetBatch, type StepTotal } from './forget.ts'
export { giveWay } from './give-way.ts'
export { passes } from './patience.ts'
export { Periodic } from './periodic.ts'
export { situationOf } from './situation.ts'
export {
  type DeclareEffect,
  type EffectPlan,
  type OrderedPlan,
  type PlanContext,
  type Trigger,
  trigger,
} from './trigger.ts'
