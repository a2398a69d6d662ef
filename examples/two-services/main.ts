import { DatabaseSync } from 'node:sqlite'
import { sqlite } from 'counterfoil/sqlite'
import { listen, onStage, type Say, tell, textOf, until, untilEffect } from '../stage.ts'
import { orders, placed } from './app.ts'
import { warehouse } from './warehouse.ts'

export function play(say: Say): Promise<void> {
  return onStage(async (place, keep) => {
    const service = keep(await warehouse(place('warehouse.db')))
    const inside = keep(await listen(service.handle))

    /** Between the two: holds the first reservation back until its sender has given up on it. */
    let late: (() => Promise<Response>) | undefined
    const network = keep(
      await listen(async (request, response) => {
        const body = request.method === 'POST' ? await textOf(request) : null
        const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers
        const pass = () =>
          fetch(inside.url + request.url, { method: request.method!, headers: headers as never, body })
        if (body !== null && late === undefined) {
          late = pass
          say('network: the first reservation is on its way, and on its way, and on its way.')
          return
        }
        const answer = await pass()
        if (body !== null) say(`warehouse: ${answer.status} to attempt ${headers['idempotency-key']}`)
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        response.end(Buffer.from(await answer.arrayBuffer()))
      }),
    )
    const database = new DatabaseSync(place('orders.db'), { timeout: 5_000 })
    database.exec('create table placed_order (id text primary key)')
    const app = keep(await orders({ store: sqlite(place('orders.db')), database, warehouse: network.url }))
    await app.start()

    say('An order of 3 pieces is placed.')
    const program = new DatabaseSync(place('orders.db'), { timeout: 5_000 })
    program.exec('begin immediate')
    program.prepare('insert into placed_order values (?)').run('481')
    await app.publish(program, { type: placed, data: { order: '481', pieces: 3 } })
    program.exec('commit')
    program.close()

    await until('the first request is under way', () => late !== undefined)
    const key = 'order/481/reserve/revision/1'
    await untilEffect(app, key, 'confirmed')
    await tell(app, key, say)
    say('Now the first request lands, long after its sender gave up on it.')
    const answer = await late!()
    say(
      `warehouse: ${answer.status}, replayed: ${answer.headers.get('idempotency-replayed')}. It does not act again.`,
    )
    say(`Pieces reserved: ${service.reserved()}.`)
  })
}
