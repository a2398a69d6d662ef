import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Counterfoil } from '../counterfoil.ts'
import { CounterfoilError } from '../domain/index.ts'
import {
  assign,
  dismiss,
  dryRunMany,
  listAudit,
  listQuarantine,
  type ManyAct,
  readFilter,
  readQuarantinePayload,
  reprocess,
  runMany,
  showQuarantine,
  verifyAudit,
} from '../operate/index.ts'
import { actOf, type Bindings, type Body, decisionOf, given, page, wholeNumber } from './asked.ts'
import { effectsApi } from './effects-api.ts'
import { readingApi } from './reading-api.ts'
import { refusalOf } from './refusal.ts'
import { choice, readBody, text, textOrNull, texts } from './request-body.ts'
import { type Doors, operatorOfRequest } from './request-operator.ts'
import { retentionApi } from './retention-api.ts'

/** Bytes of a request body, at most. */
export const maxBodyBytes = 65_536
/** Batches of a decision on many that one request waits for; the same request again goes on. */
const batchesPerRequest = 20

/**
 * The operator interface, `/api/v1/…`: the same operations as the command line, for operators with a token or a
 * session of the console. Times are milliseconds since the epoch.
 */
export function operatorApi(app: Counterfoil, doors: Doors): Hono<Bindings> {
  const api = new Hono<Bindings>()
  api.use(async (context, next) => {
    context.set('operator', operatorOfRequest(context, doors))
    await next()
    context.header('cache-control', 'no-store')
  })
  api.use(
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () =>
        refusalOf(new CounterfoilError('body_too_large', `The body is larger than ${maxBodyBytes} bytes.`)),
    }),
  )

  readingApi(api, app)
  effectsApi(api, app)
  retentionApi(api, app)
  api.get('/quarantine', async (context) => {
    const { limit, before, after, ...filter } = context.req.query()
    const query = { ...page(limit), ...place({ before, after }) }
    const named = readFilter(Object.entries(filter), app.clock.now())
    const { entries, next } = await listQuarantine(app, context.get('operator'), { ...query, ...named })
    return context.json({ quarantine: entries, next })
  })
  api.get('/quarantine/:id', async (context) => {
    const { entry, notes } = await showQuarantine(app, context.get('operator'), context.req.param('id'))
    return context.json({ quarantine: entry, notes })
  })
  api.post('/quarantine/dry-run', async (context) => {
    const body = await readBody(context.req.raw)
    return context.json(await dryRunMany(app, context.get('operator'), manyOf(app, body)))
  })
  api.post('/quarantine/run', async (context) => {
    const body = await readBody(context.req.raw)
    const asked = { ...manyOf(app, body), digest: text(body, 'digest') }
    const run = await runMany(app, asked, actOf(context, body), { maxBatches: batchesPerRequest })
    return context.json(run, run.state === 'done' ? 200 : 202)
  })
  api.post('/quarantine/:id/payload', async (context) => {
    const id = context.req.param('id')
    const body = await readBody(context.req.raw)
    const read = await readQuarantinePayload(app, id, actOf(context, body))
    const base64 = read === null ? null : Buffer.from(read.payload).toString('base64')
    return context.json({ contentType: read?.contentType ?? null, base64 })
  })
  api.post('/quarantine/:id/assign', async (context) => {
    const body = await readBody(context.req.raw)
    const assignee = textOrNull(body, 'assignee')
    return context.json(told(await assign(app, context.req.param('id'), assignee, decisionOf(context, body))))
  })
  for (const [name, decide] of [
    ['reprocess', reprocess],
    ['dismiss', dismiss],
  ] as const) {
    api.post(`/quarantine/:id/${name}`, async (context) => {
      const body = await readBody(context.req.raw)
      return context.json(told(await decide(app, context.req.param('id'), decisionOf(context, body))))
    })
  }
  api.get('/audit', async (context) => {
    const { limit, before, subject } = context.req.query()
    const from = before === undefined ? {} : { before: wholeNumber('before', before) }
    const query = { ...page(limit), ...from, ...given({ subject }) }
    return context.json({ audit: await listAudit(app, context.get('operator'), query) })
  })
  api.get('/audit/verify', async (context) => {
    const { head } = context.req.query()
    return context.json(await verifyAudit(app, context.get('operator'), head))
  })
  api.notFound(() =>
    refusalOf(new CounterfoilError('not_found', 'The operator interface has nothing there.')),
  )
  api.onError(refusalOf)
  return api
}

function told({ entry, notes, outcome, repeated }: Awaited<ReturnType<typeof dismiss>>) {
  return { outcome, repeated, quarantine: entry, notes }
}

function manyOf(app: Counterfoil, body: Body): ManyAct {
  const act = choice(body, 'act', ['reprocess', 'dismiss'])
  const { state = 'waiting', ...filter } = readFilter(Object.entries(texts(body, 'filter')), app.clock.now())
  if (state === 'waiting') return { act, filter }
  throw new CounterfoilError('request_invalid', `Entries in the state '${state}' cannot be decided on.`)
}

function place({ before, after }: { before: string | undefined; after: string | undefined }) {
  if (before !== undefined && after !== undefined) {
    throw new CounterfoilError('request_invalid', 'Give before or after, not both.')
  }
  return given({ before, after })
}
