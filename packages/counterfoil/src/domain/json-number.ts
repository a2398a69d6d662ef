/**
 * Whether a double carries a JSON number as it was written.
 *
 * A whole number is carried when the double is exactly it: ids are whole numbers, and two of them must not
 * become one. Any other is carried when the double, written to as many significant digits, reads the same:
 * `0.1` and the `0.10000000000000001` of C's `%.17g` are carried, `123456789.123456789` and `1e-400` are not.
 */
export function isFaithful(text: string): boolean {
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  if (/^-?\d+$/.test(text)) return BigInt(text) === BigInt(value)
  const written = decimal(text)
  if (written.digits === '') return true
  if (written.digits.length > 100 || value === 0) return false
  const carried = decimal(value.toPrecision(written.digits.length))
  return written.digits === carried.digits && written.exponent === carried.exponent
}

/** The significant digits, without zeros at either end, and the power of ten of the last one. The sign never changes. */
function decimal(text: string): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = text.toLowerCase().replace(/^-/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  return { digits, exponent: Number(power) - fraction.length + (all.length - digits.length) }
}
