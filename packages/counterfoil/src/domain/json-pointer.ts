/** True for a pointer in the syntax of RFC 6901: empty, or tokens that each begin with `/`. */
export function isPointer(pointer: string): boolean {
  return /^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer)
}

/**
 * The value at a JSON Pointer (RFC 6901), or undefined when nothing is there or the pointer is none. Reads
 * own members of objects and elements of arrays only.
 */
export function readPointer(value: unknown, pointer: string): unknown {
  if (!isPointer(pointer)) return undefined
  if (pointer === '') return value
  let at = value
  for (const token of pointer.slice(1).split('/')) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    // An array owns a `length` too, which is not one of its elements.
    if (Array.isArray(at) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}
