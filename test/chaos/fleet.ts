import { join } from 'node:path'
import { freePort } from '../../packages/counterfoil/src/testing/free-port.ts'
import { Member } from './member.ts'
import type { Plant } from './planted.ts'

const launcher = join(import.meta.dirname, '../../packages/counterfoil/bin/counterfoil.js')
/** What every server of a run is given and no log may hold (I21). */
export const vaultSecret = Buffer.alloc(32, 'chaos vault secret').toString('base64')
export const operatorToken = 'a token that only a chaos run knows'

export interface FleetOptions {
  readonly directory: string
  readonly servers: number
  readonly seed: number
  /** The share of orders that meet a fault of the recipient. */
  readonly faults: number
  /** What `CHAOS_STORE` is. */
  readonly store: string
  readonly plant?: Plant | undefined
  /** The address that everything listens on. Default `127.0.0.1`. */
  readonly host?: string
  /** For one server: its own address, what runs it, and more of its environment. */
  readonly server?: (index: number) => {
    readonly host?: string
    readonly under?: readonly string[]
    readonly environment?: () => Readonly<Record<string, string>>
  }
}

/** Server processes on one store, and the process of their recipients. */
export class Fleet {
  readonly servers: readonly Member[]
  readonly recipient: Member
  readonly recipientFile: string

  static async make(options: FleetOptions): Promise<Fleet> {
    const ports = await Promise.all(Array.from({ length: options.servers + 1 }, freePort))
    return new Fleet(options, ports)
  }

  private constructor(options: FleetOptions, [recipientPort = 0, ...ports]: readonly number[]) {
    const { directory, seed, faults, store, plant, host = '127.0.0.1' } = options
    this.recipientFile = join(directory, 'recipient.db')
    this.recipient = new Member({
      name: 'recipient',
      url: `http://${host}:${recipientPort}`,
      probe: '/',
      log: join(directory, 'recipient.log'),
      parameters: [
        '--conditions=counterfoil:source',
        join(import.meta.dirname, 'recipient.ts'),
        ...[this.recipientFile, host, recipientPort, seed, faults].map(String),
      ],
      environment: () => compiled,
    })
    this.servers = ports.map((port, index) => {
      const own = options.server?.(index) ?? {}
      const at = own.host ?? host
      return new Member({
        name: `server-${index + 1}`,
        url: `http://${at}:${port}`,
        probe: '/readyz',
        log: join(directory, `server-${index + 1}.log`),
        parameters: [
          launcher,
          'serve',
          ...['--config', join(import.meta.dirname, 'chaos.config.ts'), '--host', at, '--port', String(port)],
        ],
        environment: () => ({
          ...compiled,
          CHAOS_STORE: store,
          CHAOS_RECIPIENT: this.recipient.url,
          COUNTERFOIL_VAULT_KEYS: `chaos:${vaultSecret}`,
          // Beyond the loopback a server wants to know its operators.
          COUNTERFOIL_OPERATOR_TOKEN: operatorToken,
          ...(plant === undefined ? {} : { CHAOS_PLANT: plant }),
          ...own.environment?.(),
        }),
        ...(own.under === undefined ? {} : { under: own.under }),
      })
    })
  }

  get members(): readonly Member[] {
    return [this.recipient, ...this.servers]
  }

  get surprises(): string[] {
    return this.members.flatMap((member) => member.surprises)
  }

  async start(): Promise<void> {
    await Promise.all(this.members.map((member) => member.start()))
  }

  /** Every server drains and ends, in order. @returns what went wrong with that */
  async drain(): Promise<string[]> {
    const codes = await Promise.all(this.servers.map((server) => server.stop('SIGTERM')))
    await this.recipient.stop('SIGKILL')
    return codes.flatMap((code, index) =>
      code === 0 ? [] : [`server-${index + 1} was asked to stop and ended with ${code}`],
    )
  }

  async dispose(): Promise<void> {
    for (const member of this.members) member.signal('SIGCONT')
    await Promise.all(this.members.map((member) => member.stop('SIGKILL')))
  }
}

/** What Node compiled once it need not compile at the next start: starting is most of what a kill costs. */
const compiled = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/compiled') }
