/**
 * DBOS Transact: a workflow of one step, enqueued under its own id; the queue polls every 10 ms instead of every
 * second.
 */
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'
import type { Body, Contender, Item, Place, Sending } from '../contender.ts'
import { type Effect, effectOf } from '../effect.ts'
import { databaseOf } from '../measure.ts'

const queueName = 'collect'
const workflowName = 'collect'
const connections = 20
const silent = { info() {}, debug() {}, warn() {}, error: console.error }

const prepare = ({ id, body }: Item) => ({ id, body })

let effect: Effect
const collect = DBOS.registerWorkflow(
  async (body: Body) => {
    await DBOS.runStep(() => effect.run(body), { name: 'call' })
  },
  { name: workflowName },
)

async function launched({ url }: Place): Promise<void> {
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: url,
    systemDatabasePoolSize: connections,
    logger: silent,
    runAdminServer: false,
  })
  await DBOS.launch()
}

async function sending(place: Place): Promise<Sending> {
  // Only to make the schema: this process takes items and works on none.
  await launched(place)
  await DBOS.shutdown()
  const client = await DBOSClient.create({
    systemDatabaseUrl: place.url,
    systemDatabasePoolSize: connections,
    applicationName: 'bench',
    logger: silent,
  })
  return {
    prepare,
    async send(prepared) {
      const { id, body } = prepared as ReturnType<typeof prepare>
      await client.enqueue({ workflowName, queueName, workflowID: id }, body)
    },
    close: () => client.destroy(),
  }
}

export const dbos: Contender = {
  sending,
  async filled(place, items) {
    const sender = await sending(place)
    for (let from = 0; from < items.length; from += 64)
      await Promise.all(items.slice(from, from + 64).map((item) => sender.send(prepare(item))))
    await sender.close()
  },
  async working(place, acted) {
    const database = await databaseOf(place)
    effect = effectOf(place, acted)
    await launched(place)
    await DBOS.registerQueue(queueName, { workerConcurrency: 128, minPollingIntervalMs: 10 })
    return {
      finished: () => database.none("select from dbos.workflow_status where status <> 'SUCCESS'"),
      async close() {
        await DBOS.shutdown()
        await effect.close()
        await database.close()
      },
    }
  },
  /** Started in the same process, without a queue: its quickest way. */
  async idling(place, acted) {
    effect = effectOf(place, acted)
    await launched(place)
    return {
      prepare,
      async send(prepared) {
        const { id, body } = prepared as ReturnType<typeof prepare>
        await DBOS.startWorkflow(collect, { workflowID: id })(body)
      },
      close: () => DBOS.shutdown(),
    }
  },
}
