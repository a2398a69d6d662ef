/**
 * What stands around a function in AWS Lambda, as far as it matters here, in the process of the bench: asynchronous
 * invocation with its time-out, its two retries and its destination for what failed
 * (https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html), and a table.
 *
 * The retries come after 1 s and 2 s here, and after 1 and 2 minutes there.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import dynalite from 'dynalite'
import type { Event, Place, Setting } from '../../scenarios/system.ts'

export const tableName = 'idempotency'
const retryAfterMs = [1_000, 2_000]

export interface Invocation {
  readonly id: number
  readonly event: Event
  tries: number
}

/** What the function's process needs to reach both. */
export interface Surroundings {
  readonly service: string
  readonly dynamo: string
}

export const credentials = {
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
}

export async function lambda(setting: Omit<Setting, 'recipient'>): Promise<Place> {
  const table = dynalite({ createTableMs: 0 })
  table.listen(0, '127.0.0.1')
  await once(table, 'listening')
  const dynamo = `http://127.0.0.1:${(table.address() as AddressInfo).port}`
  await new DynamoDBClient({ endpoint: dynamo, ...credentials }).send(
    new CreateTableCommand({
      TableName: tableName,
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  )
  const service = serviceOf(setting)
  service.keepAliveTimeout = 600_000
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const at: Surroundings = { dynamo, service: `http://127.0.0.1:${(service.address() as AddressInfo).port}` }
  return {
    at: JSON.stringify(at),
    async drop() {
      service.close()
      service.closeAllConnections()
      table.close()
    },
  }
}

/**
 *   POST /invoke          takes an event
 *   GET  /next            the next invocation, or 204
 *   POST /ended/ID        {ok, error}
 *   GET  /state           what waits, runs, and failed for good
 */
function serviceOf({ retries, leaseMs }: Pick<Setting, 'retries' | 'leaseMs'>) {
  const waiting: Invocation[] = []
  const running = new Map<number, Invocation>()
  const failed: { event: Event; error: string; tries: number }[] = []
  let made = 0

  const end = (id: number, error: string | null) => {
    const invocation = running.get(id)
    if (!running.delete(id) || invocation === undefined || error === null) return
    const after = retries ? retryAfterMs[invocation.tries - 1] : undefined
    if (after === undefined) {
      failed.push({ event: invocation.event, error, tries: invocation.tries })
      return
    }
    running.set(-id, invocation)
    setTimeout(() => {
      running.delete(-id)
      waiting.push(invocation)
    }, after)
  }
  const take = () => {
    const invocation = waiting.shift()
    if (invocation === undefined) return undefined
    invocation.tries++
    running.set(invocation.id, invocation)
    const { id, tries } = invocation
    setTimeout(() => {
      if (invocation.tries === tries) end(id, `Task timed out after ${leaseMs / 1000} seconds`)
    }, leaseMs)
    return invocation
  }
  return createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const [, what, id] = (request.url ?? '').split('/')
    let answer: unknown = {}
    if (what === 'invoke') waiting.push({ id: ++made, event: JSON.parse(body) as Event, tries: 0 })
    else if (what === 'next') answer = take()
    else if (what === 'ended') end(Number(id), (JSON.parse(body) as { error: string | null }).error)
    else answer = { waiting, running: [...running.values()], failed }
    response.writeHead(answer === undefined ? 204 : 200).end(JSON.stringify(answer))
  })
}
