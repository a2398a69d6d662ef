import { CounterfoilError } from '../../domain/index.ts'

/** One URL of several hosts, as libpq writes it (postgresql.org/docs/current/libpq-connect.html, section Connection URIs). */
export interface Hosts {
  /** One URL for each host, in the order given. */
  readonly urls: readonly string[]
  /** Without user, password and parameters: for texts that people read. */
  readonly location: string
  /** The URL's own `options`, such as `-c search_path=app`. */
  readonly options: string
}

/** @throws CounterfoilError `config_invalid`, which never quotes the URL: it may hold a password */
export function parseHosts(url: string): Hosts {
  const [, scheme, credentials = '', authority = '', rest = ''] =
    /^(postgres(?:ql)?):\/\/(?:([^@/?#]*)@)?([^/?#]*)(.*)$/.exec(url) ?? []
  if (scheme === undefined) throw invalid('it does not begin with postgres://')
  const hosts = authority.split(',').map((host) => host.trim())
  const at = credentials === '' ? '' : `${credentials}@`
  const urls = hosts.map((host) => new URLOrThrow(`postgres://${at}${host || 'localhost'}${rest}`))
  const options = urls[0]!.searchParams.get('options') ?? ''
  for (const one of urls) one.searchParams.delete('options')
  const database = urls[0]!.pathname.slice(1)
  return {
    urls: urls.map(String),
    location: `postgres://${hosts.map((host) => host || 'localhost').join(',')}/${database}`,
    options,
  }
}

class URLOrThrow extends URL {
  constructor(text: string) {
    try {
      super(text)
    } catch {
      throw invalid('one of its hosts or its path cannot be read')
    }
  }
}

function invalid(why: string): CounterfoilError {
  return new CounterfoilError('config_invalid', `The URL of the PostgreSQL store is not usable: ${why}.`, {
    hint: 'It looks like postgres://user@host:5432/database, with further hosts behind commas.',
  })
}
