import { type Counterfoil, counterfoil, producer, recipient, type Store, trigger } from 'counterfoil'
import { github } from 'counterfoil/producers'
import { z } from 'zod'

const Push = z.object({
  ref: z.string(),
  after: z.string(),
  repository: z.object({ full_name: z.string(), pushed_at: z.number() }),
})

/** A push to main deploys. What was pushed later has to win, whatever order the requests arrive in. */
export function deployer(about: { store: Store; secret: string; platform: string }): Counterfoil {
  const hub = producer('github', github({ secrets: about.secret }))
  const platform = recipient('platform', {
    url: about.platform,
    allowPrivateAddresses: true,
    timeout: '300ms',
    contract: {
      idempotency: {
        header: 'Idempotency-Key',
        remembersFor: '24h',
        otherPayload: 'refused',
        replays: 'first-success',
      },
      ordering: { fence: { header: 'Fence-Version', rejectedWith: 412 } },
      // It keeps by key what became of a deployment; 409 for one that it turned away and never made.
      lookup: {
        by: 'key',
        path: '/deployments/{key}',
        after: '100ms',
        absence: { final: false },
        answers: [{ status: 409, means: 'refused' }],
      },
    },
  })
  const deploy = platform.effect('commit.deploy', {
    payload: z.object({ repository: z.string(), commit: z.string() }),
    request: (payload) => ({ method: 'POST', path: '/deployments', body: payload }),
  })
  return counterfoil({
    store: about.store,
    recipients: [platform],
    triggers: [
      trigger('deploy what was pushed to main', {
        on: hub.event('push', { schema: Push }),
        when: ({ data }) => data.ref === 'refs/heads/main',
        plan: ({ data: { after, repository } }, { effect }) =>
          effect(deploy, {
            key: `${repository.full_name}/deploy/${after}`,
            payload: { repository: repository.full_name, commit: after },
            order: { domain: repository.full_name, version: repository.pushed_at },
          }),
      }),
    ],
    log: () => {},
  })
}
