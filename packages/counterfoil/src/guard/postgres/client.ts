export interface PgResult {
  readonly rows: any[]
  readonly rowCount: number | null
  readonly command: string
}

/** What the guard uses of a client of `pg`. */
export interface PgClient {
  query(
    statement: string | { readonly name?: string; readonly text: string; readonly values?: unknown[] },
    values?: unknown[],
  ): Promise<PgResult>
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Of pg 8.19 and later: `I` outside a transaction. */
  getTransactionStatus?(): 'I' | 'T' | 'E' | null
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** What the guard uses of a pool of `pg`. */
export interface PgPool<Client extends PgClient = PgClient> {
  connect(): Promise<Client & { release(error?: Error | boolean): void }>
  readonly totalCount: number
}

/** A client for one transaction at a time. */
export interface Borrowed<Client> {
  readonly client: Client
  /** The connection has broken: nothing that is sent from now on leaves this process. */
  lost(): boolean
  /** @param broken it is not to be used again */
  giveBack(broken: boolean): void
}

/** Takes clients from a pool, or lends the one client to one transaction after the other. */
export function lender<Client extends PgClient>(
  owner: PgPool<Client> | Client,
): () => Promise<Borrowed<Client>> {
  if ('totalCount' in owner) {
    return async () => {
      const client = await owner.connect()
      return watched(client, (broken) => client.release(broken))
    }
  }
  let last: Promise<void> = Promise.resolve()
  return async () => {
    const before = last
    let done = () => {}
    last = new Promise((resolve) => {
      done = resolve
    })
    await before
    return watched(owner, done)
  }
}

/** A connection that breaks between two statements tells it here; unheard, it would end the process. */
function watched<Client extends PgClient>(
  client: Client,
  giveBack: (broken: boolean) => void,
): Borrowed<Client> {
  let lost = false
  const onError = () => {
    lost = true
  }
  client.on('error', onError)
  return {
    client,
    lost: () => lost,
    giveBack(broken) {
      client.removeListener('error', onError)
      giveBack(broken)
    },
  }
}
