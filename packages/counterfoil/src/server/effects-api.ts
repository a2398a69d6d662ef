import type { Counterfoil } from '../counterfoil.ts'
import { effectStates } from '../domain/index.ts'
import {
  answerProposal,
  decideOnEffect,
  type Evidence,
  effectActs,
  listEffects,
  listUnknown,
  readEffectRequest,
  showEffect,
} from '../operate/index.ts'
import { type Api, actOf, type Body, decisionOf, given, oneOf, page } from './asked.ts'
import { readBody, text, textOrNull, texts } from './request-body.ts'

/** Effects, those that are unknown, and decisions on them. */
export function effectsApi(api: Api, app: Counterfoil): void {
  api.get('/effects', async (context) => {
    const { limit, before, recipient, state } = context.req.query()
    const query = {
      ...page(limit),
      ...given({ before, recipient, state: oneOf('state', state, effectStates) }),
    }
    return context.json(await listEffects(app, context.get('operator'), query))
  })
  api.get('/unknown', async (context) => {
    const { limit, before, recipient } = context.req.query()
    const asked = page(limit)
    const unknown = await listUnknown(app, context.get('operator'), {
      ...asked,
      ...given({ before, recipient }),
    })
    return context.json({ unknown, next: unknown.length < asked.limit ? null : unknown.at(-1)!.effect.id })
  })
  api.get('/effects/:id', async (context) =>
    context.json(await showEffect(app, context.get('operator'), context.req.param('id'))),
  )
  api.post('/effects/:id/request', async (context) => {
    const body = await readBody(context.req.raw)
    const bytes = await readEffectRequest(app, context.req.param('id'), actOf(context, body))
    return context.json({ base64: bytes === null ? null : Buffer.from(bytes).toString('base64') })
  })
  for (const act of effectActs) {
    api.post(`/effects/:id/${act}`, async (context) => {
      const body = await readBody(context.req.raw)
      const decision = { ...decisionOf(context, body), ...evidenceOf(body) }
      return context.json(await decideOnEffect(app, context.req.param('id'), act, decision))
    })
  }
  for (const answer of ['approve', 'reject'] as const) {
    api.post(`/effects/:id/${answer}`, async (context) => {
      const body = await readBody(context.req.raw)
      const id = context.req.param('id')
      const decision = decisionOf(context, body)
      return context.json(await answerProposal(app, id, answer, text(body, 'proposal'), decision))
    })
  }
}

function evidenceOf(body: Body): { evidence?: Evidence } {
  if (body.evidence === undefined || body.evidence === null) return {}
  const evidence = texts(body, 'evidence')
  const correlation = evidence.correlation === undefined ? null : textOrNull(evidence, 'correlation')
  return { evidence: { says: text(evidence, 'says'), ...(correlation === null ? {} : { correlation }) } }
}
