import { parseArgs } from 'node:util'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError, codeOf, printable } from '../domain/index.ts'
import { auditHead, auditList, auditVerify } from './audit.ts'
import {
  backfillApprove,
  backfillList,
  backfillPause,
  backfillPlan,
  backfillResume,
  backfillRun,
  backfillShow,
} from './backfill.ts'
import { check } from './check.ts'
import { type Command, exit, type Invocation } from './command.ts'
import { completionCommand } from './completion.ts'
import { loadConfig } from './config.ts'
import { doctor } from './doctor.ts'
import { effectsList, effectsShow, unknownList } from './effects.ts'
import { effectDecisions, proposalAnswers } from './effects-decide.ts'
import { init } from './init.ts'
import { operatorsNew } from './operators.ts'
import { outputTo, ownCharacters } from './output.ts'
import { quarantineList, quarantineShow } from './quarantine.ts'
import { quarantineAssign, quarantineDismiss, quarantineReprocess } from './quarantine-decide.ts'
import { receiptsList, receiptsShow } from './receipts.ts'
import { reconcile } from './reconcile.ts'
import { retentionApply, retentionErase, retentionPlan } from './retention.ts'
import { searchCommand } from './search.ts'
import { serveCommand } from './serve.ts'
import { simulate } from './simulate.ts'
import { migrate, status } from './store-commands.ts'

const commands: readonly Command[] = [
  init,
  serveCommand,
  check,
  migrate,
  status,
  doctor,
  simulate,
  searchCommand,
  receiptsList,
  receiptsShow,
  effectsList,
  effectsShow,
  ...effectDecisions,
  ...proposalAnswers,
  quarantineList,
  quarantineShow,
  quarantineAssign,
  quarantineReprocess,
  quarantineDismiss,
  unknownList,
  backfillPlan,
  backfillApprove,
  backfillRun,
  backfillPause,
  backfillResume,
  backfillList,
  backfillShow,
  reconcile,
  retentionPlan,
  retentionApply,
  retentionErase,
  auditList,
  auditHead,
  auditVerify,
  operatorsNew,
  completionCommand(() => commands, ['config', 'json', 'help']),
]

const common = {
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

async function main(argv: readonly string[]): Promise<number> {
  const command = commands.find(({ name }) => name === argv.slice(0, name.split(' ').length).join(' '))
  if (command === undefined) {
    const asked = argv.find((word) => !word.startsWith('-'))
    const helps = asked === undefined || argv.includes('--help')
    ;(helps ? process.stdout : process.stderr).write(overview(asked))
    return argv.length > 0 && helps ? exit.done : exit.badUse
  }
  const rest = argv.slice(command.name.split(' ').length)
  const json = rest.includes('--json')
  try {
    const { values, positionals } = parse(command, rest)
    if (values.help === true) {
      process.stdout.write(helpOf(command))
      return exit.done
    }
    let app: Promise<Counterfoil> | undefined
    const invocation: Invocation = {
      positionals,
      options: values,
      app: () =>
        (app ??= loadConfig(typeof values.config === 'string' ? values.config : undefined, process.cwd())),
      out: outputTo(process.stdout, process.stderr, { json, env: process.env }),
    }
    return await command.run(invocation)
  } catch (error) {
    return report(error, json)
  }
}

function parse(command: Command, args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...common, ...command.options },
      allowPositionals: true,
    }) as {
      values: Record<string, string | boolean | string[] | undefined>
      positionals: string[]
    }
  } catch (error) {
    throw new CounterfoilError('usage_invalid', (error as Error).message, {
      hint: `See: counterfoil ${command.name} --help`,
    })
  }
}

/** What was wrong and what to do; a problem of ours keeps its stack for the report. */
function report(error: unknown, json: boolean): number {
  const code = codeOf(error) ?? 'internal'
  const message = error instanceof Error ? error.message : String(error)
  const hint = error instanceof CounterfoilError ? error.hint : undefined
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ error: { code, message, ...(hint === undefined ? {} : { hint }) } }, null, 2)}\n`,
    )
  } else {
    process.stderr.write(
      `counterfoil: ${printable(message, ownCharacters)} [${code}]\n${hint === undefined ? '' : `${hint}\n`}`,
    )
    if (code === 'internal' && error instanceof Error && error.stack !== undefined)
      process.stderr.write(`${error.stack}\n`)
  }
  return code === 'usage_invalid' ? exit.badUse : exit.problem
}

function overview(asked: string | undefined): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  const unknown = asked === undefined ? '' : `There is no command '${asked}'.\n\n`
  return `${unknown}Usage: counterfoil COMMAND [--config FILE] [--json] [--help]\n\n${list.join('\n')}\n\nExit codes: 0 done, 1 found a problem, 2 bad use.\n`
}

function helpOf({ summary, usage, example }: Command): string {
  return `${summary}.\n\nUsage:   ${usage}\nExample: ${example}\n\n--config FILE  the configuration; default counterfoil.config.ts here\n--json         one stable JSON document instead of text\n`
}

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exit.done)
  throw error
})
process.exitCode = await main(process.argv.slice(2))
