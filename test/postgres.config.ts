import { counterfoil, producer, trigger } from 'counterfoil'
import { postgres } from 'counterfoil/postgres'
import { github } from 'counterfoil/producers'
import { cardOf, GitHubPayload } from '../demo/github-events.ts'
import { secrets } from '../demo/secrets.ts'
import { pinCard, workshop } from '../demo/workshop.ts'

const repositories = producer('github', github({ secrets: secrets.github }))

/** What the tests' server processes run: the demo's recipient, on the database that the environment names. */
export default counterfoil({
  store: postgres(process.env.COUNTERFOIL_TEST_POSTGRES!, {
    connectTimeoutMs: 2_000,
    statementTimeoutMs: 3_000,
  }),
  recipients: [workshop],
  lease: '3s',
  triggers: [
    trigger('pin a card for what happens in a repository', {
      on: repositories.event('issues', { schema: GitHubPayload }),
      plan: (event, { effect }) => {
        const card = cardOf(event.type, event.data, event.fingerprint)
        effect(pinCard, { key: card.reference, payload: card })
      },
    }),
  ],
})
