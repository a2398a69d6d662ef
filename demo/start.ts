/**
 * The main job, before your eyes: `npm start` (the server then stays up) or `npm run demo:once` (exits with 0
 * only if the recipient acted exactly as the ledger says).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdirSync, openSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Counterfoil } from 'counterfoil'
import { Driver } from './driver.ts'
import { bold, faint, say, step } from './say.ts'
import { summarise } from './summary.ts'

const once = process.argv.includes('--once')
const port = Number(process.env.COUNTERFOIL_DEMO_PORT ?? 4840)
const recipientPort = Number(process.env.COUNTERFOIL_DEMO_RECIPIENT_PORT ?? 4841)
const directory = process.env.COUNTERFOIL_DEMO_DIR ?? '.counterfoil'
const url = `http://127.0.0.1:${port}`
const recipientUrl = `http://127.0.0.1:${recipientPort}`
const here = import.meta.dirname
const children: ChildProcess[] = []
let stopping = false
let lastUnknown = 'EFFECT-KEY'

process.env.COUNTERFOIL_DEMO_DIR = directory
mkdirSync(directory, { recursive: true })
process.env.COUNTERFOIL_DEMO_RECIPIENT = recipientUrl
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0))

try {
  const same = await demonstrate()
  if (once) await stop(same ? 0 : 1)
  else hints()
} catch (error) {
  say(`The demo could not go on: ${error instanceof Error ? error.message : String(error)}`)
  await stop(1)
}

async function demonstrate(): Promise<boolean> {
  for (const [what, taken] of [
    ['the server', port],
    ['the recipient', recipientPort],
  ] as const) {
    if (await isTaken(taken))
      throw new Error(
        `port ${taken}, for ${what}, is in use. Stop what listens there, perhaps an earlier demo.`,
      )
  }
  say(
    bold('Counterfoil') +
      faint(`  store ${join(directory, 'counterfoil.db')}, server ${url}, recipient ${recipientUrl}`),
  )
  say(
    faint(
      `Log: ${join(directory, 'demo.log')}. Payloads are sealed with a development key; production needs COUNTERFOIL_VAULT_KEYS.`,
    ),
  )
  await child(
    'the recipient',
    recipientUrl,
    [join(here, 'recipient.ts'), '--port', String(recipientPort), '--dir', directory],
    '/acts',
  )
  const launcher = join(here, '../packages/counterfoil/bin/counterfoil.js')
  await child(
    'the server',
    url,
    [launcher, 'serve', '--config', join(here, 'counterfoil.config.ts'), '--port', String(port)],
    '/readyz',
  )
  const app = await ledger()
  const driver = new Driver(app, url, recipientUrl)
  await driver.run()
  const same = await summarise(app, driver, recipientUrl)
  const [unknown] = [...driver.seenUnknown.values()]
  if (unknown !== undefined) lastUnknown = unknown
  await app.store.close()
  return same
}

/** The configuration once more: a second process that reads the same file. */
async function ledger(): Promise<Counterfoil> {
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, 'counterfoil:source'] }),
  })
  const { default: app } = (await import('./counterfoil.config.ts')) as { default: Counterfoil }
  await app.store.open({ migrate: false })
  return app
}

async function child(what: string, at: string, parameters: readonly string[], probe: string): Promise<void> {
  const log = openSync(join(directory, 'demo.log'), 'a')
  const process_ = spawn(process.execPath, parameters, {
    stdio: ['ignore', 'ignore', log, 'ipc'],
    env: process.env,
  })
  children.push(process_)
  process_.once('exit', (code, signal) => {
    if (stopping) return
    say(
      `\n${what} ended (${signal ?? code}). Nothing that was acknowledged is lost: start again with npm start.`,
    )
    void stop(1)
  })
  for (let tries = 0; tries < 600 && process_.exitCode === null; tries++) {
    const up = await fetch(`${at}${probe}`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${what} did not start`)
}

function isTaken(candidate: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(candidate, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

async function stop(code: number): Promise<void> {
  if (stopping) return
  stopping = true
  // The server drains first, while the recipient can still answer it.
  for (const one of children.reverse()) {
    if (one.exitCode !== null || one.signalCode !== null) continue
    const ended = new Promise((resolve) => one.once('exit', resolve))
    one.kill('SIGTERM')
    await ended
  }
  process.exit(code)
}

function hints(): void {
  const body = '{"action":"opened","issue":{"number":1,"title":"Mine"},"repository":{"full_name":"me/mine"}}'
  const secret = process.env.GITHUB_WEBHOOK_SECRET ?? "It's a Secret to Everybody"
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  step(`The server stays up on ${url}. Ask it, in another terminal:`)
  say('  npx counterfoil status')
  say(`  npx counterfoil effects show ${lastUnknown}`)
  say('  npx counterfoil quarantine list')
  say()
  say('Send a signed delivery of your own, twice:')
  say(
    `  curl -i ${url}/in/github -H 'content-type: application/json' -H 'x-github-event: issues' -H 'x-github-delivery: mine-1' \\`,
  )
  say(`    -H 'x-hub-signature-256: sha256=${signature}' -d '${body}'`)
  say()
  say('Ctrl-C stops it.')
}
