import type { Counterfoil } from '../counterfoil.ts'
import {
  approveBackfill,
  type BackfillAnswer,
  beginBackfill,
  listBackfills,
  pauseBackfill,
  planBackfill,
  progressOf,
  resumeBackfill,
  showBackfill,
} from '../operate/index.ts'
import type { BackfillView } from '../store/index.ts'
import { type Api, type Asked, actOf } from './asked.ts'
import { flag, numberOrNull, readBody, text } from './request-body.ts'

/**
 * `/api/v1/backfills`: what is planned, and the decisions on it. What runs is taken in by the server's own worker. A
 * plan over HTTP is one of a source that the configuration names: no path of this machine is asked for.
 */
export function backfillApi(api: Api, app: Counterfoil): void {
  const told = (backfill: BackfillView) => ({
    ...backfill,
    progress: progressOf(backfill, app.clock.now()),
  })
  const answered = ({ backfill, repeated }: BackfillAnswer) => ({ repeated, backfill: told(backfill) })
  const named = (context: Asked) => context.req.param('id') ?? ''

  api.get('/backfills', async (context) => {
    const backfills = await listBackfills(app, context.get('operator'))
    return context.json({ backfills: backfills.map(told), configured: [...app.backfills.keys()] })
  })
  api.get('/backfills/:id', async (context) => {
    return context.json({ backfill: told(await showBackfill(app, context.get('operator'), named(context))) })
  })
  api.post('/backfills/:id/plan', async (context) => {
    await readBody(context.req.raw)
    const planned = await planBackfill(app, context.get('operator'), { name: named(context) })
    return context.json({ backfill: told(planned) })
  })
  api.post('/backfills/:id/approve', async (context) => {
    const body = await readBody(context.req.raw)
    const about = { digest: text(body, 'digest'), acceptMalformed: flag(body, 'acceptMalformed') }
    return context.json(answered(await approveBackfill(app, named(context), about, actOf(context, body))))
  })
  api.post('/backfills/:id/run', async (context) => {
    const body = await readBody(context.req.raw)
    const rate = numberOrNull(body, 'rate')
    return context.json(answered(await beginBackfill(app, named(context), rate, actOf(context, body))))
  })
  api.post('/backfills/:id/pause', async (context) => {
    const body = await readBody(context.req.raw)
    return context.json(answered(await pauseBackfill(app, named(context), actOf(context, body))))
  })
  api.post('/backfills/:id/resume', async (context) => {
    const body = await readBody(context.req.raw)
    const rate = body.rate === undefined ? undefined : numberOrNull(body, 'rate')
    return context.json(answered(await resumeBackfill(app, named(context), rate, actOf(context, body))))
  })
}
