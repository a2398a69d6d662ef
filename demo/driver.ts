/**
 * Sends what producers send, well and badly, to a demo server that runs, and tells what becomes of it:
 *
 *     node --conditions=counterfoil:source demo/driver.ts [--server URL] [--workshop URL]
 *
 * Exits with 0 when the recipient acted exactly as the ledger says, else with 1.
 */
import { parseArgs } from 'node:util'
import { Chapters } from './chapters.ts'
import app from './counterfoil.config.ts'
import { Ledger } from './ledger.ts'
import { defaultPorts, workshopUrl } from './places.ts'
import { bad, bold, say } from './say.ts'
import { summarise } from './summary.ts'
import { lookInside } from './try-next.ts'
import { wasUnknown } from './watcher.ts'

const { values: flags } = parseArgs({
  options: { server: { type: 'string' }, workshop: { type: 'string' } },
})
const server = flags.server ?? `http://127.0.0.1:${defaultPorts.server}`
const workshop = flags.workshop ?? workshopUrl

await app.store.open({ migrate: false })
try {
  const ledger = new Ledger(app, Date.now())
  const chapters = await Chapters.begin({ server, workshop, ledger })
  await chapters.tell()
  const asTheLedgerSays = await summarise(ledger, workshop, chapters.answers)
  process.exitCode = asTheLedgerSays ? 0 : 1
  say()
  say(bold('Look inside:'))
  say(lookInside((await ledger.effects()).findLast(wasUnknown)?.key))
} catch (error) {
  say()
  say(bad(`The demo could not go on: ${error instanceof Error ? error.message : String(error)}`))
  process.exitCode = 1
} finally {
  await app.store.close()
}
