/** What is told of an error of the program's: its name and its code. Its message may hold secrets. */
export function nameOf(error: unknown): string {
  const { name, code } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const plain = [name, code].filter((text) => typeof text === 'string' && /^[\w.-]{1,60}$/.test(text))
  return plain.length === 0 ? 'something' : plain.join(' ')
}
