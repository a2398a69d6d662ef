import type { Contract, Lookup } from './contract.ts'
import { inWords, milliseconds } from './duration.ts'

/** The sentences that explain each step of the policy: what `effects show` prints under `next`. */
export const because = {
  done: {
    confirmed: 'Final: there is evidence that the recipient acted.',
    refused: 'Final: the recipient refused it for good and did not act.',
    fenced: 'Final: the recipient rejected it because a newer version is already there.',
    withdrawn: 'Final: it was withdrawn and can never act.',
  },
  inFlight:
    'An attempt is in flight. Its answer decides; if its lease ends first, the effect becomes unknown.',
  planned: 'Planned and not yet attempted.',
  unsent: (attempt: number) =>
    `It is proved that attempt ${attempt} did not act, so the same request goes out again under the same key.`,
  stillUnsent: (attempts: number, last: number) =>
    `${attempts} attempts provably did not act; the last was attempt ${last}. They go on; its owner is told.`,
  stillUnknown: (attempts: number) =>
    `It is unknown after ${attempts} attempts. Repeats are safe and go on; its owner is told.`,
  ask(lookup: Lookup, accepted: boolean): string {
    if (accepted) return 'The recipient has accepted it and not said that it is done, so it is asked.'
    return `The recipient may have acted. Its contract offers a lookup by ${lookup.by}, so it is asked.`
  },
  askAgain({ absence }: Lookup, accepted: boolean): string {
    if (accepted) return 'The recipient has accepted it and it is not done yet. It is asked again.'
    return absence.final
      ? `The last lookup proved nothing. It is asked again; "not there" is final ${inWords(milliseconds(absence.after ?? 0))} after the last attempt ended.`
      : 'The last lookup proved nothing, and absence is only a hint at this recipient. It is asked again.'
  },
  repeat({ idempotency, ordering }: Contract): string {
    if (ordering?.conditional !== undefined) {
      return 'Its request holds only while its precondition does, and acting breaks that: so repeating the same request acts at most once.'
    }
    const { remembersFor } = idempotency!
    const howLong =
      remembersFor === 'forever' ? 'for ever' : `for ${inWords(milliseconds(remembersFor as number))}`
    return `The recipient remembers keys ${howLong}, so repeating the same request under the same key acts at most once.`
  },
  tombstone:
    'Nothing else can prove what became of it. The recipient is asked to close its key: then it has acted, or it never can.',
  operator(
    { idempotency, lookup, ordering }: Contract,
    { couldRepeat, asks, accepted }: { couldRepeat: boolean; asks: boolean; accepted: boolean },
  ): string {
    const decides = 'A person decides, with evidence.'
    if (accepted) return `The recipient accepted it and its lookup has not told the end for a day. ${decides}`
    if (couldRepeat)
      return `The recipient may have acted, and it no longer remembers the key for certain: a repeat could act twice. ${decides}`
    if (asks) return `The recipient may have acted, and its lookup has proved nothing for a day. ${decides}`
    if (ordering?.conditional !== undefined)
      return `Its precondition no longer holds: an earlier attempt acted, or someone else did. ${decides}`
    if (idempotency?.remembersFor === 'unstated')
      return `The recipient may have acted, and it does not say how long it remembers a key, so no repeat is known to be safe. ${decides}`
    if (lookup !== undefined)
      return `The recipient may have acted, and no answer carried the id that its lookup asks for. ${decides}`
    return `The recipient may have acted. It recognises no repeat and offers no lookup, so the engine does nothing more: a person decides, with evidence.`
  },
}
