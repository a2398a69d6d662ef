import { DatabaseSync } from 'node:sqlite'
import { sqlite } from 'counterfoil/sqlite'
import { listen, onStage, type Say, tell, textOf, until, untilEffect } from '../stage.ts'
import { accounts, referenceOf, signedUp } from './app.ts'

export function play(say: Say): Promise<void> {
  return onStage(async (place, keep) => {
    const sent: string[] = []
    const provider = keep(
      await listen(async (request, response) => {
        const asked = new URL(request.url!, 'http://provider').searchParams.get('reference')
        if (asked !== null) {
          response.end(JSON.stringify({ messages: sent.filter((reference) => reference === asked).length }))
          return
        }
        const { to, reference } = JSON.parse(await textOf(request)) as { to: string; reference: string }
        if (to.startsWith('bob')) {
          say(`provider: the request for ${to} hangs in my load balancer. Will I take it? Nobody knows.`)
          return
        }
        sent.push(reference)
        say(`provider: mail to ${to} is out. My answer is lost.`)
        response.destroy()
      }),
    )
    const database = new DatabaseSync(place('accounts.db'), { timeout: 5_000 })
    database.exec('create table account (name text primary key, email text not null)')
    const store = sqlite(place('accounts.db'))
    const app = keep(accounts({ store, database, provider: provider.url }))
    await app.start()

    const program = new DatabaseSync(place('accounts.db'), { timeout: 5_000 })
    for (const user of ['ann', 'bob']) {
      say(`${user} signs up: the account and the event commit together.`)
      const email = `${user}@example.com`
      program.exec('begin immediate')
      program.prepare('insert into account values (?, ?)').run(user, email)
      await app.publish(program, { type: signedUp, data: { user, email } })
      program.exec('commit')
    }
    program.close()

    await untilEffect(app, referenceOf('ann'), 'confirmed')
    await tell(app, referenceOf('ann'), say)
    say('Ann has one mail: the provider was asked, and not sent a second request.')
    await until('the log was asked about bob', async () => {
      const [story] = await app.store.showEffects(referenceOf('bob'))
      return story!.effect.state === 'unknown' && story!.effect.evidence.length > 0
    })
    await tell(app, referenceOf('bob'), say)
    say(
      'Bob may still get his mail: "not in the log" is no proof, so nothing is sent again. A person decides:',
    )
    say(`  counterfoil unknown list`)
    say(`  counterfoil effects confirm ID --reason … --evidence …   (or: effects refuse, effects withdraw)`)
    say(`Mails that are out: ${sent.length}. Requests that were repeated: 0.`)
  })
}
