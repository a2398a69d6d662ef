import { CounterfoilError } from '../domain/index.ts'

/**
 * Lets through what the console's own page asks and nothing that another site makes a browser send: the header can
 * be set by a script of the same origin only, and a browser says the origin of every POST and DELETE itself.
 *
 * @param publicUrl where browsers reach the console; without it the request's own host
 * @throws CounterfoilError `request_foreign`
 */
export function checkOrigin(request: Request, publicUrl: string | undefined): void {
  const origin = request.headers.get('origin')
  const isOwn =
    publicUrl === undefined ? hostOf(origin) === hostOf(request.url) : origin === new URL(publicUrl).origin
  if (isOwn && hostOf(origin) !== null && request.headers.has('x-counterfoil-console')) return
  throw new CounterfoilError('request_foreign', 'This request does not come from the page of this console.', {
    hint: 'Behind a proxy that changes the host, set COUNTERFOIL_PUBLIC_URL to the address that browsers use.',
  })
}

/** Hosts are compared, not schemes: a proxy may end TLS. */
function hostOf(url: string | null): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).host : null
}
