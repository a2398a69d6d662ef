/**
 * AWS Lambda Powertools: a handler made idempotent, with payload validation, behind an asynchronous invocation.
 *
 * - makeIdempotent, eventKeyJmesPath, payloadValidationJmesPath, expiresAfterSeconds, throwOnNoIdempotencyKey, Lambda
 *   time-outs, what an exception does to the record:
 *   https://docs.aws.amazon.com/powertools/typescript/latest/features/idempotency/
 *
 * DynamoDB is dynalite, an implementation of its interface in Node; Lambda is lambda.ts beside this file.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { Context } from 'aws-lambda'
import { type Event, type System, type SystemRecord, shortMs } from '../../scenarios/system.ts'
import { collect, isKnown, jobName, kindOf, saysOf, tries } from './collect.ts'
import { credentials, type Invocation, lambda, type Surroundings, tableName } from './lambda.ts'
import { versionOf } from './places.ts'

export const system: System = {
  name: 'Powertools',
  about: `${versionOf('@aws-lambda-powertools/idempotency')} on ${versionOf('dynalite')}, behind asynchronous invocation`,
  endsOverrun: true,
  place: lambda,
  async open(setting, at, _as, beforeCall) {
    const { service, dynamo } = JSON.parse(at) as Surroundings
    const client = new DynamoDBClient({ endpoint: dynamo, ...credentials })
    const config = new IdempotencyConfig({
      eventKeyJmesPath: 'name',
      payloadValidationJmesPath: 'event.data',
      throwOnNoIdempotencyKey: true,
      // An hour by default; there is no "for ever", so it is ten years.
      expiresAfterSeconds: setting.keeps === 'for ever' ? 315_360_000 : shortMs / 1000,
    })
    const handler = makeIdempotent(
      async ({ event }: { name: string; event: Event }, _context: Context) => {
        if (!isKnown(kindOf(event))) throw new Error(`no code for ${event.type}`)
        return { result: await collect(event, setting, beforeCall), event }
      },
      { config, persistenceStore: new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client }) },
    )
    const invoke = async ({ id, event }: Invocation) => {
      const deadline = Date.now() + setting.leaseMs
      const context = {
        functionName: 'collect',
        getRemainingTimeInMillis: () => deadline - Date.now(),
      } as Context
      const error = await handler({ name: jobName(event, setting), event }, context).then(
        () => null,
        (thrown: Error) =>
          `${thrown.name}: ${thrown.cause instanceof Error ? thrown.cause.message : thrown.message}`,
      )
      await fetch(`${service}/ended/${id}`, { method: 'POST', body: JSON.stringify({ error }) })
    }
    void (async () => {
      for (;;) {
        const response = await fetch(`${service}/next`)
        if (response.status === 204) await sleep(250)
        else void invoke((await response.json()) as Invocation)
      }
    })()
    return {
      async deliver(event) {
        await fetch(`${service}/invoke`, { method: 'POST', body: JSON.stringify(event) })
        return 'invocation taken'
      },
      async records() {
        const state = (await (await fetch(`${service}/state`)).json()) as State
        const { Items = [] } = await DynamoDBDocumentClient.from(client).send(
          new ScanCommand({ TableName: tableName }),
        )
        return [...Items.map(recordOf), ...state.failed.map(failedOf), ...stillOf(state)]
      },
    }
  },
}

interface State {
  readonly waiting: readonly Invocation[]
  readonly running: readonly Invocation[]
  readonly failed: readonly { readonly event: Event; readonly error: string; readonly tries: number }[]
}

function recordOf(item: Record<string, unknown>): SystemRecord {
  const { result } = (item.data ?? {}) as { result?: string }
  const words = `record ${item.status}${result === undefined ? '' : `: ${result}`}`
  const done = item.status === 'COMPLETED'
  // What is left in progress was begun and did not end; the invocation behind it is what would try again.
  return { says: done ? saysOf(result) : 'failed', words, holds: JSON.stringify(item) }
}

function failedOf({ event, error, tries: count }: State['failed'][number]): SystemRecord {
  return {
    says: 'failed',
    words: `invocation failed after ${tries(count)}: ${error}`,
    holds: JSON.stringify(event),
  }
}

function stillOf({ waiting, running }: State): SystemRecord[] {
  const open = [...waiting, ...running]
  return open.map(({ event }) => ({
    says: 'open',
    words: 'invocation not over',
    holds: JSON.stringify(event),
  }))
}
