import type { Counterfoil } from '../counterfoil.ts'
import type { RecipientSurvey, StoreSurvey } from '../store/index.ts'

/** The newest effects of a recipient whose attempts say how it does. */
const recentEffects = 50
/** Of the attempts that reached an end: as many may fail before a recipient is called unsteady. */
const steadyShare = 0.9

export interface RecipientHealth extends RecipientSurvey {
  /**
   * By the attempts of the newest effects. `idle`: there were none. `failing`: none was answered for good. `unsteady`:
   * more than one in ten was not. A refusal is an answer: the recipient does well, the effect does not.
   */
  readonly health: 'good' | 'unsteady' | 'failing' | 'idle'
}

/** What is open of every recipient of the configuration, and how it does. */
export async function healthOf({
  store,
  recipients,
}: Counterfoil): Promise<Omit<StoreSurvey, 'recipients'> & { readonly recipients: RecipientHealth[] }> {
  const survey = await store.survey({ recipients: [...recipients.keys()], recent: recentEffects })
  return { ...survey, recipients: survey.recipients.map((one) => ({ ...one, health: health(one) })) }
}

function health({ recent }: RecipientSurvey): RecipientHealth['health'] {
  const answered = recent.confirmed + recent.refused + recent.fenced
  const all = answered + recent.unknown + recent.notActed
  if (all === 0) return 'idle'
  if (answered === 0) return 'failing'
  return answered >= all * steadyShare ? 'good' : 'unsteady'
}
