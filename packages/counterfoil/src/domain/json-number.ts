/**
 * Whether a double carries a JSON number as it was written: the shortest spelling that reads back as the
 * double (what ECMAScript writes, and so RFC 8785) denotes the same decimal. So two numbers that differ
 * never have one fingerprint. `1.0`, `10e-1` and `-0` are carried; 9007199254740993, `1e400`, `1e-400` and
 * decimals longer than a double's own spelling are not.
 *
 * @param text a number in the grammar of RFC 8259 section 6
 */
export function isFaithful(text: string): boolean {
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  const written = decimal(text)
  // Zero is zero under any exponent, even one that no number could hold.
  if (written.digits === '') return true
  if (value === 0) return false
  const carried = decimal(String(value))
  return written.digits === carried.digits && written.exponent === carried.exponent
}

/** Whether a JSON number is written as a whole number, without fraction and exponent. */
export function isWhole(text: string): boolean {
  return !/[.eE]/.test(text)
}

/**
 * The significant digits without zeros at either end, and the power of ten of the last one. The sign is left
 * out: reading never changes it. Loops, not `/0+$/`: that pattern takes quadratic time on `1000…0001`.
 */
function decimal(text: string): { digits: string; exponent: number } {
  const power = text.search(/[eE]/)
  const mantissa = power === -1 ? text : text.slice(0, power)
  const point = mantissa.indexOf('.')
  const fractionLength = point === -1 ? 0 : mantissa.length - point - 1
  const all = mantissa.replace('-', '').replace('.', '')
  let begin = 0
  while (all[begin] === '0') begin++
  let end = all.length
  while (end > begin && all[end - 1] === '0') end--
  const exponent = (power === -1 ? 0 : Number(text.slice(power + 1))) - fractionLength + (all.length - end)
  return { digits: all.slice(begin, end), exponent }
}
