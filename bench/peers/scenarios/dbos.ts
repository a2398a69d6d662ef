/**
 * DBOS Transact: a workflow of one step a kind of work, started under an id of its own.
 *
 * - workflow ids as idempotency keys: https://docs.dbos.dev/typescript/tutorials/workflow-tutorial
 * - retries of a step: https://docs.dbos.dev/typescript/tutorials/step-tutorial
 * - a process that restarts recovers what it was working on: https://docs.dbos.dev/production/workflow-recovery
 * - two executions of one workflow at once: https://docs.dbos.dev/explanations/concurrent-executions
 * - retention, set in Conductor, by default a million workflows: https://docs.dbos.dev/production/retention
 */
import { DBOS, DBOSClient, type WorkflowStatus } from '@dbos-inc/dbos-sdk'
import { type Event, type System, type SystemRecord, shortMs } from '../../scenarios/system.ts'
import { collect, jobName, kindOf, kinds, saysOf } from './collect.ts'
import { database, postgresVersion, versionOf } from './places.ts'

const silent = { info() {}, debug() {}, warn() {}, error() {} }

export const system: System = {
  name: 'DBOS',
  about: `${versionOf('@dbos-inc/dbos-sdk')} on ${postgresVersion}, without Conductor`,
  place: database,
  async open(setting, at, as, beforeCall) {
    const retry = { retriesAllowed: setting.retries, maxAttempts: 3, intervalSeconds: 1 }
    const workflows = new Map(
      kinds.map((kind) => [
        kind as string,
        DBOS.registerWorkflow(
          (event: Event) =>
            DBOS.runStep(() => collect(event, setting, beforeCall), { name: 'collect', ...retry }),
          { name: kind },
        ),
      ]),
    )
    DBOS.setConfig({
      name: 'scenarios',
      applicationVersion: '1',
      // What replaces a process has its id, and recovers its workflows.
      executorID: as,
      systemDatabaseUrl: at,
      runAdminServer: false,
      logger: silent,
    })
    await DBOS.launch()
    return {
      async deliver(event) {
        const workflow = workflows.get(kindOf(event))
        if (workflow === undefined) throw new Error(`no workflow for ${event.type}`)
        await DBOS.startWorkflow(workflow, { workflowID: jobName(event, setting) })(event)
        return 'startWorkflow() gave a handle'
      },
      async records() {
        return (await DBOS.listWorkflows({ loadInput: true, loadOutput: true })).map(recordOf)
      },
      // Conductor's policy deletes what is older than a threshold; so does this, without Conductor.
      async forget() {
        if (setting.keeps === 'for ever') return
        const old = (await DBOS.listWorkflows({})).filter(
          ({ completedAt }) => (completedAt ?? Number.POSITIVE_INFINITY) < Date.now() - shortMs,
        )
        await DBOS.deleteWorkflows(old.map(({ workflowID }) => workflowID))
      },
    }
  },
  async look(_setting, at) {
    const client = await DBOSClient.create({
      systemDatabaseUrl: at,
      applicationName: 'scenarios',
      logger: silent,
    })
    const records = (await client.listWorkflows({ loadInput: true, loadOutput: true })).map(recordOf)
    await client.destroy()
    return records
  },
}

function recordOf(flow: WorkflowStatus): SystemRecord {
  const { status, workflowName, input, output, error } = flow
  const message = (error as Error | undefined)?.message
  const holds = JSON.stringify([workflowName, input, output, message])
  const why = status === 'SUCCESS' ? `: ${output}` : message === undefined ? '' : `: ${message}`
  const words = `workflow ${status}${why}`
  if (status === 'SUCCESS') return { says: saysOf(output), words, holds }
  return { says: status === 'PENDING' || status === 'ENQUEUED' ? 'open' : 'failed', words, holds }
}
