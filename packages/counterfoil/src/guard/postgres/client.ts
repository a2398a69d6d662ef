/** What the guard uses of a client of `pg`. */
export interface PgClient {
  query(
    statement: string | { readonly name?: string; readonly text: string; readonly values?: unknown[] },
    values?: unknown[],
  ): Promise<{ readonly rows: any[]; readonly rowCount: number | null; readonly command: string }>
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
      // A connection that breaks between two statements tells it here; unheard, it would end the process.
      client.on('error', ignore)
      return {
        client,
        giveBack(broken) {
          client.removeListener('error', ignore)
          client.release(broken)
        },
      }
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
    return { client: owner, giveBack: done }
  }
}

function ignore(): void {}
