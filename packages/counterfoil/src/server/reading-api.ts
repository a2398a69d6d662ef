import type { Counterfoil } from '../counterfoil.ts'
import {
  actsOf,
  listReceipts,
  listRecipients,
  overview,
  readReceiptPayload,
  search,
  showReceipt,
} from '../operate/index.ts'
import { type Api, actOf, given, oneOf, page } from './asked.ts'
import { readBody } from './request-body.ts'

/** What there is: the caller, search, the overview, receipts and recipients. */
export function readingApi(api: Api, app: Counterfoil): void {
  api.get('/me', (context) => {
    const { name, role } = context.get('operator')
    return context.json({ name, role, acts: actsOf(role) })
  })
  api.get('/search', async (context) =>
    context.json(await search(app, context.get('operator'), context.req.query('q') ?? '')),
  )
  api.get('/overview', async (context) => context.json(await overview(app, context.get('operator'))))
  api.get('/recipients', async (context) =>
    context.json({ recipients: await listRecipients(app, context.get('operator')) }),
  )
  api.get('/receipts', async (context) => {
    const { limit, before, producer, state } = context.req.query()
    const query = {
      ...page(limit),
      ...given({ before, producer, state: oneOf('state', state, ['accepted', 'planned', 'quarantined']) }),
    }
    return context.json(await listReceipts(app, context.get('operator'), query))
  })
  api.get('/receipts/:id', async (context) =>
    context.json(await showReceipt(app, context.get('operator'), context.req.param('id'))),
  )
  api.post('/receipts/:id/payload', async (context) => {
    const body = await readBody(context.req.raw)
    const read = await readReceiptPayload(app, context.req.param('id'), actOf(context, body))
    const base64 = read === null ? null : Buffer.from(read.payload).toString('base64')
    return context.json({ contentType: read?.contentType ?? null, base64 })
  })
}
