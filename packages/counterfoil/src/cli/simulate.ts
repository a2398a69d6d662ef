import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CounterfoilError } from '../domain/index.ts'
import type { Examples } from '../testing/index.ts'
import { type Command, exit, type Invocation } from './command.ts'

export const simulate: Command = {
  name: 'simulate',
  summary: 'Play the configuration through schedules of faults, and say what it gets wrong',
  usage: 'counterfoil simulate [--config FILE] [--seeds N] [--from N] [--seed N] [--examples FILE]',
  example: 'counterfoil simulate --seeds 200 --examples examples.ts',
  options: {
    seeds: { type: 'string', help: 'Schedules; default 100' },
    from: { type: 'string', help: 'The first seed; default 0' },
    seed: { type: 'string', help: 'One schedule, told step by step' },
    examples: { type: 'string', help: 'A module whose default export has events by type' },
  },
  async run({ app, options, out }) {
    // Only this command needs it.
    const { simulateConfig, study } = await import('../testing/index.ts')
    const configured = await app()
    const examples = typeof options.examples === 'string' ? await load(options.examples) : {}
    if (options.seed !== undefined) {
      const simulated = await simulateConfig(configured, whole(options, 'seed', 0), { examples })
      const { seed, violations, faults } = simulated
      const story = simulated.story().split('\n')
      out.json({ seed, violations, faults, story })
      for (const line of story) out.line(line)
      return violations.length === 0 ? exit.done : exit.problem
    }
    const seeds = whole(options, 'seeds', 100)
    const studied = await study(configured, { examples, seeds, from: whole(options, 'from', 0) })
    const { findings, schedules, faults, events } = studied
    out.json(studied)
    for (const { kind, where, says, change, seed } of findings) {
      out.line(`${where}: ${kind}`)
      out.line(`  ${says}.`)
      out.line(`  ${change}`)
      if (seed !== undefined) out.line(`  counterfoil simulate --seed ${seed}`)
      out.line()
    }
    const found = findings.length === 0 ? 'nothing found' : `${findings.length} found`
    out.line(`${schedules} schedules of ${events} events with ${faults} faults: ${found}`)
    return findings.length === 0 ? exit.done : exit.problem
  },
}

function whole(options: Invocation['options'], name: string, otherwise: number): number {
  const text = options[name]
  if (text === undefined) return otherwise
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new CounterfoilError('usage_invalid', `--${name} is '${String(text)}', and no whole number.`)
}

async function load(file: string): Promise<Examples> {
  const module = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown }
  if (typeof module.default === 'object' && module.default !== null) return module.default as Examples
  throw new CounterfoilError('usage_invalid', `${file} has no default export with events by type.`)
}
