/**
 * The main job before your eyes: `npm start`, after which the server stays up, or `npm run demo:once`, which exits
 * with 0 only if the recipient acted exactly as the ledger says.
 *
 *     node demo/start.ts [--once] [--port 4840] [--recipient-port 4841]
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Child } from './child.ts'
import { defaultPorts, directory, ledgerFile } from './places.ts'
import { bad, bold, faint, say } from './say.ts'
import { handMade } from './try-next.ts'

const { values: flags } = parseArgs({
  options: {
    once: { type: 'boolean', default: false },
    port: { type: 'string', default: String(defaultPorts.server) },
    'recipient-port': { type: 'string', default: String(defaultPorts.workshop) },
  },
})
const server = `http://127.0.0.1:${flags.port}`
const workshop = `http://127.0.0.1:${flags['recipient-port']}`
/** Lets you into the console of this run, unless the environment names operators of yours. */
const demoToken =
  named('COUNTERFOIL_OPERATORS') || named('COUNTERFOIL_OPERATOR_TOKEN')
    ? null
    : randomBytes(12).toString('base64url')
const env = {
  ...process.env,
  COUNTERFOIL_DEMO_DIR: directory,
  COUNTERFOIL_DEMO_RECIPIENT: workshop,
  ...(demoToken === null ? {} : { COUNTERFOIL_OPERATOR_TOKEN: demoToken }),
}
const children: Child[] = []
let stopping = false
let stopBegan = 0

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void interrupted())

try {
  await demonstrate()
} catch (error) {
  if (!stopping) {
    say(bad(error instanceof Error ? error.message : String(error)))
    await stop(1)
  }
}

async function demonstrate(): Promise<void> {
  await checkPort(Number(flags.port), 'the server')
  await checkPort(Number(flags['recipient-port']), 'its recipient, the workshop')
  mkdirSync(directory, { recursive: true })
  const file = (name: string) => join(directory, name)
  const here = (name: string) => join(import.meta.dirname, name)

  const recipientFlags = ['--port', flags['recipient-port'], '--dir', directory]
  const recipient = start('The workshop', [here('recipient.ts'), ...recipientFlags], file('workshop.log'))
  await recipient.ready(`${workshop}/acts`)
  const launcher = here('../packages/counterfoil/bin/counterfoil.js')
  const serve = ['serve', '--config', here('counterfoil.config.ts'), '--port', flags.port]
  const receiver = start('The server', [launcher, ...serve], file('server.log'))
  await receiver.ready(`${server}/readyz`)
  introduce(file)

  const source = '--conditions=counterfoil:source'
  const driver = start('The driver', [source, here('driver.ts'), '--server', server, '--workshop', workshop])
  const code = await Promise.race([driver.ended, lost(recipient), lost(receiver)])
  if (flags.once) {
    await stop(code)
    return
  }
  say()
  say(bold(`The server stays up on ${server}. Look at it all in the console:`))
  say()
  say(`  ${server}/console   ${demoToken === null ? 'with a token of yours' : `with the token ${demoToken}`}`)
  say()
  say(bold('Send it a delivery of your own:'))
  say(handMade(server))
  say(faint('Ctrl-C stops it, after what it has in work is done.'))
  await Promise.race([lost(recipient), lost(receiver)])
}

function start(what: string, parameters: readonly string[], log?: string): Child {
  const child = new Child(what, parameters, { env, ...(log === undefined ? {} : { log }) })
  children.push(child)
  return child
}

function named(variable: string): boolean {
  return (process.env[variable] ?? '') !== ''
}

function introduce(file: (name: string) => string): void {
  const path = (name: string) => relative(process.cwd(), name) || name
  say(bold('Counterfoil: receipts for what comes in, a ledger for what goes out'))
  say(`  the server     ${server}  its ledger   ${path(ledgerFile)}`)
  say(`  the workshop   ${workshop}  its journal  ${path(file('workshop.jsonl'))}`)
  if (process.env.COUNTERFOIL_VAULT_KEYS === undefined) {
    say(
      faint(
        '  Payloads are sealed with a development key that lies beside the ledger; production refuses one.',
      ),
    )
  }
  say(faint('  The workshop is the recipient: a process of its own, which will lose answers.'))
  say(
    faint(
      `  What they log, alerts too, is in ${path(file('server.log'))} and ${path(file('workshop.log'))}.`,
    ),
  )
}

/** Rejects when the child ends, unless we stop it ourselves. */
async function lost(child: Child): Promise<never> {
  const code = await child.ended
  throw new Error(
    `${child.what} ended by itself (${code}). Nothing that was acknowledged is lost: start again, and it goes on.`,
  )
}

function checkPort(port: number, what: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'is in use, perhaps by an earlier demo' : `failed: ${error.code}`
      reject(
        new Error(
          `Port ${port}, which ${what} needs, ${why}. Stop it there, or see demo/start.ts for another port.`,
        ),
      )
    })
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve()))
  })
}

/** Ctrl-C: drains. A second one, later than an echo of the first can be, does not wait. */
async function interrupted(): Promise<void> {
  if (stopping) {
    if (performance.now() < stopBegan + 1_000) return
    for (const child of children) child.kill()
    process.exit(1)
  }
  say()
  say('Stopping: no new deliveries; waiting for what is in work.')
  await stop(flags.once ? 1 : 0)
}

/** The last one first: the server drains while its recipient can still answer. */
async function stop(code: number): Promise<void> {
  stopping = true
  stopBegan = performance.now()
  for (const child of children.toReversed()) await child.stop()
  process.exit(code)
}
