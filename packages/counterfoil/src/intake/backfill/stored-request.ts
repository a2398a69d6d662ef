import type { Arrival } from '../arrival.ts'

/** A request in a file is read at once; the limits of a connection are not asked. */
export type StoredRequest =
  | { readonly kind: 'request'; readonly arrival: Arrival }
  | { readonly kind: 'malformed'; readonly why: string }

const requestLine = /^([A-Z]{1,20}) (\S{1,8192}) HTTP\/1\.[01]$/
/** RFC 9110 sections 5.1 and 5.5. */
const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):[ \t]*(.*?)[ \t]*$/

/**
 * Reads one HTTP/1.1 message (RFC 9112 section 2.1): a request line, fields, an empty line, and the body to the end of
 * the file. Lines end with CRLF or LF. The body has no transfer coding any more; `Content-Length` has to fit it.
 */
export function readStoredRequest(bytes: Uint8Array): StoredRequest {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const end = headEnd(all)
  if (end === null) return malformed('there is no empty line between headers and body')
  const [first = '', ...lines] = all.toString('latin1', 0, end.head).split(/\r?\n/)
  const [, method, target] = requestLine.exec(first) ?? []
  if (method === undefined || target === undefined) {
    return malformed('the first line is no request line, such as POST /in/stripe HTTP/1.1')
  }
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = field.exec(line) ?? []
    if (name === undefined || value === undefined) return malformed('a line of the headers is no field')
    const known = headers.get(name.toLowerCase())
    headers.set(name.toLowerCase(), known === undefined ? value : `${known}, ${value}`)
  }
  if (headers.has('transfer-encoding')) {
    return malformed('the body has a transfer coding: store it as the program received it')
  }
  const body = all.subarray(end.body)
  const length = headers.get('content-length')
  if (length !== undefined && length !== String(body.length)) {
    return malformed(`Content-Length is not that of the ${body.length} bytes after the empty line`)
  }
  return { kind: 'request', arrival: arrivalOf(method, target, headers, body) }
}

function arrivalOf(
  method: string,
  url: string,
  headers: ReadonlyMap<string, string>,
  body: Uint8Array,
): Arrival {
  return {
    method,
    url,
    scheme: 'https',
    header: (name) => headers.get(name) ?? null,
    headers: () => headers,
    headersFit: () => true,
    readBody: async ({ maxBytes }) =>
      body.length <= maxBytes
        ? { kind: 'read', body }
        : { kind: 'refused', code: 'body_too_large', why: `the body is larger than ${maxBytes} bytes` },
  }
}

/** An event that nobody has signed, as if it had come with these headers. */
export function unsignedArrival(headers: ReadonlyMap<string, string>, body: Uint8Array): Arrival {
  return arrivalOf('POST', '/', headers, body)
}

function headEnd(all: Buffer): { readonly head: number; readonly body: number } | null {
  const crlf = all.indexOf('\r\n\r\n')
  const lf = all.indexOf('\n\n')
  if (crlf !== -1 && (lf === -1 || crlf < lf)) return { head: crlf, body: crlf + 4 }
  return lf === -1 ? null : { head: lf, body: lf + 2 }
}

function malformed(why: string): StoredRequest {
  return { kind: 'malformed', why }
}
