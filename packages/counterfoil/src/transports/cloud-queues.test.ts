import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nextStep, type Situation } from '../domain/index.ts'
import { FifoPublisher } from './aws/fifo-publisher.ts'
import { deduplicationInterval, type SqsInput, sqsTransport } from './aws/index.ts'
import { readFailure } from './aws/outcomes.ts'
import { type ServiceBusMessage, serviceBusTransport } from './azure/index.ts'
import { ServiceBusPublisher } from './azure/publisher.ts'
import { message, publishOne } from './conformance.ts'
import { groupIdOf } from './group-id.ts'

// Clients of the shapes that the SDKs document; the SDKs themselves are used in cloud-queues-killed.test.ts.

const queue = 'https://sqs.eu-central-1.amazonaws.com/1/orders.fifo'

/** As the AWS SDK for JavaScript v3 throws them. */
function awsError(name: string, httpStatusCode?: number): Error {
  return Object.assign(new Error('secret'), { name, $metadata: { httpStatusCode } })
}

test('a message to a FIFO queue has the same deduplication id, group and body at every attempt', async () => {
  const sent: SqsInput[] = []
  const publisher = new FifoPublisher('sqs', async (QueueUrl, MessageBody, fields) => {
    sent.push({ QueueUrl, MessageBody, ...fields })
    return { MessageId: 'm-1', SequenceNumber: '18849496460467696128' }
  })
  const one = message(queue, { order: { domain: 'customer/7', version: 3 } })
  const published = await publishOne(publisher, one)
  await publishOne(publisher, one)
  assert.deepEqual(published, { kind: 'confirmed', position: 'm-1 18849496460467696128' })
  assert.deepEqual(sent[0], sent[1])
  assert.equal(sent[0]?.MessageGroupId, 'customer/7')
  assert.match(sent[0]?.MessageDeduplicationId ?? '', /^cf_[\w-]{43}$/)
  assert.equal(JSON.parse(sent[0]!.MessageBody).id, one.id)
})

test('what claims no order is a group of its own, and a domain that no group can be named by becomes a digest', async () => {
  const groups: string[] = []
  const publisher = new FifoPublisher('sns', async (_to, _body, { MessageGroupId }) => {
    groups.push(MessageGroupId)
    return { MessageId: 'm' }
  })
  await publishOne(publisher, message('arn:aws:sns:eu-central-1:1:news.fifo'))
  await publishOne(publisher, message('arn:aws:sns:eu-central-1:1:news.fifo'))
  assert.notEqual(groups[0], groups[1])
  for (const domain of ['größer', 'two words', 'x'.repeat(129)]) {
    const group = groupIdOf(message(queue, { order: { domain, version: 1 } }))
    assert.match(group ?? '', /^cf_[\w-]{43}$/)
  }
})

test('a queue that is not FIFO is refused: it would keep every duplicate', async () => {
  let calls = 0
  const publisher = new FifoPublisher('sqs', async () => {
    calls++
    return {}
  })
  assert.equal((await publishOne(publisher, message('https://sqs.aws/1/orders'))).kind, 'refused')
  assert.equal(calls, 0)
})

describe('what an error of AWS proves', () => {
  const table: readonly [Error, 'refused' | 'notActed' | 'unknown'][] = [
    [awsError('InvalidMessageContents', 400), 'refused'],
    [awsError('InvalidParameterValueException', 400), 'refused'],
    [awsError('AccessDeniedException', 403), 'notActed'],
    [awsError('QueueDoesNotExist', 400), 'notActed'],
    [awsError('RequestThrottled', 429), 'notActed'],
    [awsError('InternalFailure', 500), 'unknown'],
    [awsError('ServiceUnavailable', 503), 'unknown'],
    [awsError('RequestTimeout', 408), 'unknown'],
    [awsError('TimeoutError'), 'unknown'],
    [awsError('AbortError'), 'unknown'],
  ]
  for (const [error, kind] of table) {
    test(`${error.name}: ${kind}`, () => {
      const read = readFailure(error)
      assert.equal(read.kind, kind)
      assert.ok(!JSON.stringify(read).includes('secret'))
    })
  }
})

test('a connection that was never made proves that nothing was sent, if the SDK tried once', () => {
  const failed = (code: string, attempts: number) =>
    readFailure(Object.assign(new Error('secret'), { code, $metadata: { attempts } })).kind
  assert.equal(failed('ECONNREFUSED', 1), 'notActed')
  assert.equal(failed('ENOTFOUND', 1), 'notActed')
  assert.equal(failed('ECONNREFUSED', 2), 'unknown')
  assert.equal(failed('ECONNRESET', 1), 'unknown')
})

describe('a repeat where consumers do not deduplicate', () => {
  const minute = 60_000
  const unknownSince = (contract: Situation['contract']): Situation => ({
    contract,
    state: 'unknown',
    plannedAt: 0,
    attempts: [
      {
        number: 1,
        begunAt: 0,
        endedAt: 1_000,
        outcome: 'unknown',
        open: true,
        retryAfterMs: null,
        correlation: null,
      },
    ],
    lookups: [],
    tombstones: [],
    accepted: false,
  })
  const about = { source: '/orders', consumersRemember: 'nothing' } as const

  test('follows on SQS within the five minutes, and never in the last tenth of them or after', () => {
    const { contract } = sqsTransport('orders', { ...about, send: async () => ({}) })
    assert.equal(deduplicationInterval, '5m')
    assert.equal(nextStep(unknownSince(contract), 4 * minute).kind, 'repeat')
    assert.equal(nextStep(unknownSince(contract), 4.5 * minute).kind, 'operator')
    assert.equal(nextStep(unknownSince(contract), 60 * minute).kind, 'operator')
  })

  test('follows on Service Bus within the window that the queue has, and nowhere without one', () => {
    const sender = () => ({ sendMessages: async () => {} })
    const days = serviceBusTransport('orders', { ...about, sender, duplicateWindow: '7d' })
    const none = serviceBusTransport('others', { ...about, sender, duplicateWindow: null })
    assert.equal(nextStep(unknownSince(days.contract), 6 * 24 * 60 * minute).kind, 'repeat')
    assert.equal(nextStep(unknownSince(days.contract), 6.5 * 24 * 60 * minute).kind, 'operator')
    assert.equal(nextStep(unknownSince(none.contract), minute).kind, 'operator')
  })

  test('is for ever where they do', () => {
    const { contract } = sqsTransport('orders', { source: '/orders', send: async () => ({}) })
    assert.equal(nextStep(unknownSince(contract), 365 * 24 * 60 * minute).kind, 'repeat')
  })
})

test('a message to Service Bus has its message id and session, and its errors are read by their codes', async () => {
  const sent: ServiceBusMessage[] = []
  let fails: { code: string } | null = null
  const publisher = new ServiceBusPublisher(() => ({
    sendMessages: async (one) => {
      if (fails !== null) throw Object.assign(new Error('secret'), { name: 'ServiceBusError', ...fails })
      sent.push(one)
    },
  }))
  const ordered = message('orders', { order: { domain: 'customer/7', version: 1 } })
  assert.equal((await publishOne(publisher, ordered)).kind, 'confirmed')
  assert.equal((await publishOne(publisher, message('orders'))).kind, 'confirmed')
  assert.equal(sent[0]?.sessionId, 'customer/7')
  assert.equal(sent[0]?.messageId, ordered.duplicateId)
  assert.ok(!('sessionId' in sent[1]!), 'a queue without sessions takes none')
  for (const [code, kind] of [
    ['MessageSizeExceeded', 'refused'],
    ['MessagingEntityNotFound', 'notActed'],
    ['ServiceBusy', 'notActed'],
    ['ServiceTimeout', 'unknown'],
    ['ServiceCommunicationProblem', 'unknown'],
  ] as const) {
    fails = { code }
    assert.deepEqual(await publishOne(publisher, ordered), { kind, why: `sending ended with ${code}` })
  }
})

test('a duplicate window that Service Bus does not have is refused', () => {
  const sender = () => ({ sendMessages: async () => {} })
  for (const duplicateWindow of ['10s', '8d'] as const) {
    assert.throws(() => serviceBusTransport('orders', { source: '/o', sender, duplicateWindow }), {
      code: 'config_invalid',
    })
  }
})
