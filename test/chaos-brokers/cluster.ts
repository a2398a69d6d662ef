import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager, RetentionPolicy } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { debianProgram } from '../../packages/counterfoil/src/testing/debian-program.ts'
import { freePort } from '../../packages/counterfoil/src/testing/free-port.ts'
import { ServerProcess } from '../../packages/counterfoil/src/transports/fixtures/server-process.ts'

type Manager = Awaited<ReturnType<typeof jetstreamManager>>

/** Three nats-servers on loopback, and streams of three replicas. */
export class Cluster {
  readonly #nodes: ReadonlyMap<string, ServerProcess>

  private constructor(nodes: ReadonlyMap<string, ServerProcess>) {
    this.#nodes = nodes
  }

  static async start(): Promise<Cluster> {
    const program = debianProgram('nats-server', 'nats-server')
    if (program === undefined) throw new Error('nats-server cannot be had here')
    const routes = await Promise.all([freePort(), freePort(), freePort()])
    const nodes = new Map<string, ServerProcess>()
    for (const [index, route] of routes.entries()) {
      const name = `n${index + 1}`
      const others = routes.map((port) => `nats://127.0.0.1:${port}`).join(',')
      const node = new ServerProcess(program, await freePort(), ({ port, directory }) => [
        ...['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory, '-n', name],
        ...['--cluster_name', 'c', '-cluster', `nats://127.0.0.1:${route}`, '-routes', others],
      ])
      nodes.set(name, node)
    }
    await Promise.all([...nodes.values()].map((node) => node.run()))
    const cluster = new Cluster(nodes)
    // A cluster that has just begun has no leader to make a stream at.
    for (const [name, subjects] of [
      ['TESTS', 'tests.>'],
      ['ASIDE', 'aside.>'],
    ] as const) {
      await cluster.patiently((manager) =>
        manager.streams.add({
          name,
          subjects: [subjects],
          num_replicas: 3,
          retention: RetentionPolicy.Limits,
          duplicate_window: 120_000_000_000,
        }),
      )
    }
    return cluster
  }

  get servers(): string[] {
    return [...this.#nodes.values()].map(({ port }) => `127.0.0.1:${port}`)
  }

  /** Kills the node that leads the stream. @returns what starts it again */
  async killLeader(): Promise<() => Promise<void>> {
    const { cluster } = await this.patiently((manager) => manager.streams.info('TESTS'))
    const leader = this.#nodes.get(cluster?.leader ?? 'n1')!
    await leader.kill()
    return async () => await leader.run()
  }

  /** Every message of a stream, by the subjects that begin so. */
  async read(prefix: string): Promise<{ subject: string; id: string }[]> {
    return await this.patiently(async (manager) => {
      const { state } = await manager.streams.info('TESTS')
      const all: { subject: string; id: string }[] = []
      for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
        const one = await manager.streams.getMessage('TESTS', { seq })
        if (one?.subject.startsWith(prefix)) all.push({ subject: one.subject, id: one.header.get('ce-id') })
      }
      return all
    })
  }

  async patiently<Result>(work: (manager: Manager) => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      let connection: NatsConnection | undefined
      try {
        connection = await connect({ servers: this.servers, reconnect: false })
        return await work(await jetstreamManager(connection, { checkAPI: false }))
      } catch (error) {
        if (tries === 120) throw error
        await sleep(500)
      } finally {
        await connection?.close().catch(() => {})
      }
    }
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((node) => node.dispose()))
  }
}
