import { type Situation, settingOf, type Variant } from './situations.ts'
import { Stage } from './stage.ts'
import type { Setting, System } from './system.ts'
import { didInWords, type Verdict } from './verdict.ts'

export interface Outcome {
  readonly situation: string
  readonly variant: string
  readonly system: string
  /** Counted by the recipient. */
  readonly acts: number
  /** As often as it should. */
  readonly right: boolean
  /** What it answered, and what its records say at the end. */
  readonly did: string
  /** Whether someone can tell afterwards what happened. */
  readonly tells: Verdict
}

/** One situation on one system, from an empty place for its records to the end of all its processes. */
export async function play(
  system: System,
  situation: Situation,
  variant: Variant,
  changes: Partial<Setting> = {},
): Promise<Outcome> {
  const stage = await Stage.set(system, { ...settingOf(variant), ...changes })
  try {
    await situation.play(stage)
    const [all, records] = [await stage.acts(), await stage.lastRecords()]
    const seen = { acts: all, answers: stage.answers, records }
    // Invoice 999 only passes the time.
    const acts = all.filter(({ operation }) => !operation.includes('999')).length
    return {
      situation: situation.name,
      variant: variant.name,
      system: system.name,
      acts,
      right: acts === situation.acts,
      did: didInWords(seen),
      tells: situation.tells(seen),
    }
  } finally {
    await stage.dispose()
  }
}
