import { readFile } from 'node:fs/promises'
import { CounterfoilError } from '../domain/index.ts'
import { type Comparison, compareListing, effectsSince, parseListing } from '../operate/index.ts'
import { type Command, exit, type Output } from './command.ts'
import { reading } from './reading.ts'

export const reconcile: Command = {
  name: 'reconcile',
  summary:
    "Hold a recipient's own listing against the ledger: what bypassed it, and what the recipient does not know",
  usage: 'counterfoil reconcile --against FILE --recipient NAME [--since TIME]',
  example: 'counterfoil reconcile --against charges.jsonl --recipient stripe --since 2026-11-01T00:00:00Z',
  options: { against: { type: 'string' }, recipient: { type: 'string' }, since: { type: 'string' } },
  run: reading(async (store, { options, out, app }) => {
    const { against, recipient, since = '1970-01-01T00:00:00Z' } = options
    if (typeof against !== 'string' || typeof recipient !== 'string')
      throw new CounterfoilError(
        'usage_invalid',
        'Name the listing with --against and its recipient with --recipient.',
      )
    const from = Date.parse(String(since))
    if (Number.isNaN(from))
      throw new CounterfoilError(
        'usage_invalid',
        `--since '${since}' is no time such as 2026-11-01T00:00:00Z.`,
      )
    if (!(await app()).recipients.has(recipient))
      throw new CounterfoilError('not_found', `There is no recipient '${recipient}'.`, {
        hint: 'See: counterfoil check',
      })
    const comparison = compareListing(
      parseListing(await textOf(against)),
      await effectsSince(store, recipient, from),
    )
    out.json({ recipient, since: new Date(from).toISOString(), ...comparison })
    print(comparison, out)
    const { bypassed, missing, acted, repeated } = comparison
    return [bypassed, missing, acted, repeated].every((found) => found.length === 0)
      ? exit.done
      : exit.problem
  }),
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CounterfoilError('usage_invalid', `The listing '${file}' cannot be read.`, { cause: error })
  }
}

function print(
  { listed, effects, agreeing, bypassed, missing, acted, repeated }: Comparison,
  out: Output,
): void {
  out.line(`${listed} acts in the listing, ${effects} effects in the ledger, ${agreeing} agree.`)
  for (const { line, key, correlation, members } of bypassed) {
    const name = [key, correlation].filter((part) => part !== null).join(' ')
    out.line(`BYPASSED line ${line}: ${name} was asked for by no effect. ${JSON.stringify(members)}`)
  }
  for (const { key, state, line } of acted)
    out.line(`ACTED ${key}: the ledger says ${state}, and line ${line} of the listing says that it acted.`)
  for (const { key, lines } of repeated)
    out.line(`REPEATED ${key}: the listing holds it in lines ${lines.join(', ')}.`)
  for (const { key } of missing)
    out.line(`MISSING ${key}: the ledger says confirmed, and the listing does not hold it.`)
}
