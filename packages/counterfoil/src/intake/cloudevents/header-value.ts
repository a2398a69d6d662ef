/** Attribute values in HTTP headers: CloudEvents 1.0.2, HTTP binding section 3.1.3.2. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Takes off double quotes, as older senders write them, then one round of percent-encoding.
 *
 * @param value as a header holds it: one byte a character
 * @returns undefined where it decodes to what is not UTF-8, or a quote or an escape is not ended
 */
export function decodeHeaderValue(value: string): string | undefined {
  const unquoted = value.includes('"') ? unquote(value) : value
  if (unquoted === undefined) return undefined
  const bytes = Buffer.alloc(unquoted.length)
  let length = 0
  for (let at = 0; at < unquoted.length; at++) {
    let byte = unquoted.charCodeAt(at)
    if (byte === 0x25) {
      const digits = unquoted.slice(at + 1, at + 3)
      if (!/^[0-9A-Fa-f]{2}$/.test(digits)) return undefined
      byte = Number.parseInt(digits, 16)
      at += 2
    }
    bytes[length++] = byte
  }
  try {
    return utf8.decode(bytes.subarray(0, length))
  } catch {
    return undefined
  }
}

/** Everything but printable ASCII, and of that the blank, the double quote and the percent sign. */
export function encodeHeaderValue(value: string): string {
  return value.replaceAll(/[^\u0021\u0023\u0024\u0026-\u007e]/gu, (character) =>
    Buffer.from(character).toString('hex').toUpperCase().replaceAll(/../g, '%$&'),
  )
}

/** RFC 7230 section 3.2.6, in any part of the value. */
function unquote(value: string): string | undefined {
  let text = ''
  let quoted = false
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!
    if (character === '"') quoted = !quoted
    else if (character === '\\' && quoted) {
      if (++at === value.length) return undefined
      text += value[at]
    } else text += character
  }
  return quoted ? undefined : text
}
