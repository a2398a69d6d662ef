/**
 * Values of one kind, each kept once and known by a small number: a state is then a few numbers, and two states are the
 * same where their numbers are.
 */
export class Parts<Value> {
  readonly #keyOf: (value: Value) => string
  readonly #numbers = new Map<string, number>()
  readonly #values: Value[] = []
  readonly #most: number

  /**
   * @param keyOf the same text for values that nothing can tell apart
   * @param bits how many a number may take
   */
  constructor(keyOf: (value: Value) => string, bits: number) {
    this.#keyOf = keyOf
    this.#most = 2 ** bits
  }

  get size(): number {
    return this.#values.length
  }

  at(number: number): Value {
    return this.#values[number]!
  }

  /** @param guess a number that may be it already: what a move has not touched is the very same value */
  numberOf(value: Value, guess: number): number {
    if (this.#values[guess] === value) return guess
    const key = this.#keyOf(value)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#values.length
    if (number >= this.#most) throw new RangeError(`more than ${this.#most} parts of one kind`)
    this.#numbers.set(key, number)
    this.#values.push(value)
    return number
  }
}
