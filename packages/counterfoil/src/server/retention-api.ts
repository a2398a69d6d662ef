import type { Counterfoil } from '../counterfoil.ts'
import {
  applyRetention,
  authorise,
  erase,
  planErasure,
  planRetention,
  retentionHorizons,
  runErasure,
} from '../operate/index.ts'
import { type Api, actOf } from './asked.ts'
import { names, readBody, text } from './request-body.ts'

/** Batches of each step that one request waits for; the same request again goes on. */
const batchesPerRequest = 20

/** Horizons, what retention would take, applying it, and erasing the payloads of one person. */
export function retentionApi(api: Api, app: Counterfoil): void {
  api.get('/retention', async (context) => {
    const operator = context.get('operator')
    authorise(operator, 'retention.plan')
    const horizons = retentionHorizons(app)
    const about = { maxBatches: batchesPerRequest }
    const plan = horizons === null ? null : await planRetention(app, operator, about)
    return context.json({ horizons, plan })
  })
  api.post('/retention/apply', async (context) => {
    const body = await readBody(context.req.raw)
    const run = await applyRetention(app, actOf(context, body), { maxBatches: batchesPerRequest })
    return context.json(run, run.state === 'done' ? 200 : 202)
  })
  api.post('/retention/erase', async (context) => {
    const body = await readBody(context.req.raw)
    const subject = { receipts: names(body, 'receipts'), effects: names(body, 'effects') }
    return context.json(await erase(app, subject, actOf(context, body)))
  })
  // By key alone: to look into every payload takes a command, not a request.
  api.post('/retention/erase/plan', async (context) => {
    const operator = context.get('operator')
    authorise(operator, 'retention.erase-plan')
    const body = await readBody(context.req.raw)
    return context.json(await planErasure(app, operator, { keyPrefix: text(body, 'keyPrefix') }))
  })
  api.post('/retention/erase/run', async (context) => {
    authorise(context.get('operator'), 'retention.erase-many')
    const body = await readBody(context.req.raw)
    const query = { keyPrefix: text(body, 'keyPrefix') }
    const about = { maxBatches: batchesPerRequest }
    const run = await runErasure(app, query, text(body, 'digest'), actOf(context, body), about)
    return context.json(run, run.state === 'done' ? 200 : 202)
  })
}
