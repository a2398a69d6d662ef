import { CounterfoilError } from '../domain/index.ts'

/** Longest path of an effect request, with its query, in characters. */
export const maxPathLength = 4_096

/**
 * Refuses a path that could lead anywhere but below the recipient's url. Paths are often made of payload
 * members, so a member that was not percent-encoded must not become a way out.
 *
 * @throws CounterfoilError `config_invalid`. The message does not quote the path, which may hold personal data.
 */
export function checkPath(path: string): void {
  const refuse = (why: string, hint: string): never => {
    throw new CounterfoilError('config_invalid', `The path of a request ${why}.`, { hint })
  }
  const encode = 'Percent-encode each member with encodeURIComponent().'
  if (typeof path !== 'string') refuse('is not text', "Write it as '/seats/42'.")
  if (path.length > maxPathLength)
    refuse(`is longer than ${maxPathLength} characters`, 'Send the rest in the body.')
  if (/^[a-z][a-z0-9+.-]*:/i.test(path))
    refuse('is a whole URL', "Give the part after the recipient's url, from '/' on.")
  if (path !== '' && !/^[/?]/.test(path)) refuse("does not begin with '/'", "Write it as '/seats/42'.")
  if (/^\/[/\\]/.test(path)) refuse("begins with '//', which names another host", "Begin it with one '/'.")
  if (path.includes('#')) refuse('has a fragment, which is never sent', encode)
  if (!/^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?[\]]|%[0-9A-Fa-f]{2})*$/.test(path)) {
    refuse('holds characters that a URL may not', encode)
  }
  const [location = ''] = path.split('?', 1)
  // %2e%2e is read as `..` by every URL parser, and %2f as `/` by some servers.
  const segments = location.replaceAll(/%2e/gi, '.').split(/[/\\]|%2f|%5c/i)
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    refuse("holds '.' or '..' between slashes, which leads out of its place", encode)
  }
}

/**
 * The recipient's url with the path appended: `https://api.example/v1` and `/seats/42` give
 * `https://api.example/v1/seats/42`. A query of the url comes before one of the path.
 *
 * @throws CounterfoilError `config_invalid` when it would leave the url's origin or path, or when the url holds credentials
 */
export function targetUrl(base: URL, path: string): URL {
  const asked = `${base.href} ${path}`
  const text = known.get(asked)
  // The text is kept and not the URL: whoever gets one may change it.
  if (text !== undefined) return new URL(text)
  const url = urlBelow(base, path)
  if (known.size === maxKnown) known.clear()
  known.set(asked, url.href)
  return url
}

/** Most effects of a recipient go to the same few places. */
const known = new Map<string, string>()
const maxKnown = 256

function urlBelow(base: URL, path: string): URL {
  checkPath(path)
  if (base.username !== '' || base.password !== '') {
    throw new CounterfoilError('config_invalid', "A recipient's url holds a user name or password.", {
      hint: 'Give an authorization header in its headers function: that is asked at each call and stored nowhere.',
    })
  }
  const [location = '', ...rest] = path.split('?')
  const root = base.pathname.replace(/\/+$/, '')
  const query = [base.search.slice(1), rest.join('?')].filter((part) => part !== '').join('&')
  const place = location === '' ? base.pathname : root + location
  const url = new URL(base.origin + place + (query === '' ? '' : `?${query}`))
  if (url.origin !== base.origin || !url.pathname.startsWith(root)) {
    throw new CounterfoilError('config_invalid', "The path of a request leads away from its recipient's url.")
  }
  return url
}
