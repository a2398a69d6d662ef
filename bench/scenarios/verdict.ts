/** From what the recipient counted and what the records say: can someone tell afterwards? The same rules for all. */
import type { Act } from './recipient.ts'
import type { SystemRecord } from './system.ts'

export interface Seen {
  readonly acts: readonly Act[]
  /** What those who delivered were told, in order. */
  readonly answers: readonly string[]
  readonly records: readonly SystemRecord[]
}

/** `yes`, `yes: …`, `no: …`, `not yet: …` */
export type Verdict = string

/** How often did it act? @param about a text that every record of the operation holds */
export function tellsActs({ acts, records: all }: Seen, about: string): Verdict {
  const records = all.filter(({ holds, says }) => says === 'open' || holds.includes(about))
  const acted = acts.filter(({ operation }) => operation.includes(about)).length
  const count = (says: SystemRecord['says']) => records.filter((record) => record.says === says).length
  if (records.length === 0) return 'no: nothing is on record'
  if (count('unknown') > 0) return 'yes: unknown, and a person is asked to decide'
  if (count('open') > 0) return 'not yet: it is still trying'
  const claimed = Math.max(count('acted'), count('acted before') > 0 ? 1 : 0)
  if (claimed === acted) return 'yes'
  if (claimed === 0) return `no: on record as failed, and it acted ${times(acted)}`
  return `no: on record as done ${times(claimed)}, and it acted ${times(acted)}`
}

/** Is what did not go the usual way on record, as something that did not? @param about a text that only it holds */
export function tellsOfOther({ answers, records }: Seen, about: string): Verdict {
  const found = records.filter(({ holds }) => holds.includes(about))
  if (found.some(({ says }) => says === 'set aside' || says === 'failed')) return 'yes'
  if (answers.some((answer) => answer.startsWith('error'))) return 'yes: who delivered it got an error'
  if (found.some(({ says }) => says === 'open')) return 'not yet: it is still trying'
  return found.length > 0 ? 'no: on record as done' : 'no: nothing of it is on record'
}

export function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${count} times`
}

/** What a system did, in its own words: what it answered, and what its records say. */
export function didInWords({ answers, records }: Seen): string {
  return [tallied(answers), tallied(records.map(({ words }) => words)) || 'no record'].join(' → ')
}

function tallied(words: readonly string[]): string {
  const groups = [...Map.groupBy(words, (word) => word)]
  return groups.map(([word, { length }]) => (length === 1 ? word : `${length} × ${word}`)).join('; ')
}
