import { createHmac } from 'node:crypto'
import { receiver } from 'counterfoil/express'
import { sqlite } from 'counterfoil/sqlite'
import { listen, onStage, type Say, tell, textOf, until, untilEffect } from '../stage.ts'
import { deployer } from './app.ts'

const secret = 'of this example alone'

/** As GitHub signs it. */
function push(id: string, commit: string, pushedAt: number): RequestInit {
  const repository = { full_name: 'acme/shop', pushed_at: pushedAt }
  const body = JSON.stringify({ ref: 'refs/heads/main', after: commit, repository })
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  }
}

export function play(say: Say): Promise<void> {
  return onStage(async (place, keep) => {
    const live = { commit: '', version: 0 }
    let refusals = 0
    const becameOf = new Map<string, number>()
    const held: (() => void)[] = []
    const platform = keep(
      await listen(async (request, response) => {
        if (request.method === 'GET') {
          const [, , key = ''] = request.url!.split('/')
          response.writeHead(becameOf.get(decodeURIComponent(key)) ?? 404).end('{}')
          return
        }
        const key = String(request.headers['idempotency-key'])
        const { commit } = JSON.parse(await textOf(request)) as { commit: string }
        if (commit === 'aaa' && held.length === 0) {
          say('network: the request to deploy aaa is stuck on its way.')
          await new Promise<void>((resolve) => held.push(resolve))
          say('network: the first request to deploy aaa arrives at last.')
        } else if (commit === 'aaa') {
          await until('bbb is live', () => live.commit === 'bbb')
        }
        const version = Number(request.headers['fence-version'])
        if (version < live.version) {
          say(`platform: version ${version} is older than ${live.version}. I do not deploy ${commit}.`)
          refusals++
          if (!becameOf.has(key)) becameOf.set(key, 409)
          response.writeHead(412).end()
          return
        }
        Object.assign(live, { commit, version })
        becameOf.set(key, 200)
        say(`platform: ${commit} is live.`)
        response.end('{}')
      }),
    )
    const app = keep(deployer({ store: sqlite(place('deploy.db')), secret, platform: platform.url }))
    await app.start()
    const server = keep(await listen(receiver(app)))
    const deliver = (init: RequestInit) => fetch(`${server.url}/in/github`, init)

    say('Commit aaa is pushed.')
    await deliver(push('d-1', 'aaa', 1_000))
    await until('the request for aaa is on its way', () => held.length > 0)
    say('Commit bbb is pushed, a minute later.')
    await deliver(push('d-2', 'bbb', 1_060))
    await untilEffect(app, 'acme/shop/deploy/bbb', 'confirmed')
    await untilEffect(app, 'acme/shop/deploy/aaa', 'refused')
    for (const release of held) release()
    await until('the stalled request was turned away', () => refusals === 2)
    await tell(app, 'acme/shop/deploy/aaa', say)
    await tell(app, 'acme/shop/deploy/bbb', say)
    say(`Live: ${live.commit}. Nobody rolled back by accident.`)
  })
}
