import { type Contract, escalateAfterMs, inWords, milliseconds, retentionMargin } from '../domain/index.ts'

/** What `counterfoil check` prints of a recipient: its promises, and what the engine does because of them. */
export function contractInWords({ idempotency, lookup, ordering, outcomes }: Contract): string[] {
  const lines: string[] = []
  if (idempotency === undefined) {
    lines.push('It recognises no repeated request: after an unknown outcome nothing is ever sent again.')
  } else {
    const remembers = milliseconds(idempotency.remembersFor)
    lines.push(`The key travels in ${idempotency.header} and is remembered for ${inWords(remembers)}.`)
    lines.push(
      idempotency.replays === 'nothing'
        ? 'A repeat gets no stored answer, so after an unknown outcome nothing is sent again.'
        : `After an unknown outcome the same request may be repeated under the same key until ${inWords(remembers * (1 - retentionMargin))} after the first attempt, never later.`,
    )
  }
  if (lookup === undefined) {
    lines.push('It offers no lookup.')
  } else {
    lines.push(
      `After an unknown outcome it is asked at ${lookup.path}, first after ${inWords(milliseconds(lookup.after ?? '1s'))}.`,
    )
    lines.push(
      lookup.absence.final
        ? `"Not there" is proof ${inWords(milliseconds(lookup.absence.after ?? 0))} after the last attempt ended, and the effect may then be attempted again.`
        : '"Not there" is only a hint: a stalled request may still land.',
    )
  }
  lines.push(
    ordering === undefined
      ? 'It compares no versions: no effect may claim order here.'
      : `It rejects an older version in ${ordering.fence.header} with ${ordering.fence.rejectedWith}: such an effect ends fenced.`,
  )
  const repeats = idempotency !== undefined && idempotency.replays !== 'nothing'
  if (!repeats && lookup === undefined) {
    lines.push('So an unknown outcome goes straight to a person.')
  } else {
    lines.push(
      `What stays unknown goes to a person when the contract allows nothing more, at the latest about ${inWords(escalateAfterMs)} after the attempt.`,
    )
  }
  for (const rule of outcomes ?? []) {
    const body =
      rule.body === undefined ? '' : ` with ${rule.body.pointer} = ${JSON.stringify(rule.body.equals)}`
    lines.push(`An answer ${rule.status}${body} means ${rule.means}.`)
  }
  return lines
}
