/** The names of an object in canonical order. */
export interface MemberOrder {
  readonly names: readonly string[]
  /** Each name as it opens its member, `{"name":` or `,"name":`. Made when a shape is met for the second time. */
  openings: readonly string[] | undefined
}

interface Shape extends MemberOrder {
  readonly keys: readonly string[]
}

/** What is remembered at most: shapes, those with one first name and length, and names and UTF-16 units of each. */
const maxShapes = 1_000
const maxAlike = 8
const maxNames = 160
const maxUnits = 4_000

/**
 * Sorts names by UTF-16 code units, as RFC 8785 section 3.2.3 asks, and remembers the shapes it met: the
 * events of a producer repeat a few, and sorting and quoting names is half the cost of a canonical text.
 * What is remembered changes the speed and never the answer. Hostile names make it take some 20 MB.
 */
export class MemberOrders {
  /** By number of names, then by the first of them. */
  readonly #shapes: Map<string, Shape[]>[] = Array.from({ length: maxNames + 1 }, () => new Map())
  #count = 0

  /** @param keys as `Object.keys` gives them, at least one; not changed afterwards */
  of(keys: readonly string[]): MemberOrder {
    const alike = this.#shapes[keys.length]?.get(keys[0]!)
    if (alike !== undefined) {
      for (const shape of alike) {
        if (!isSame(shape.keys, keys)) continue
        shape.openings ??= shape.names.map(opening)
        return shape
      }
    }
    const shape = { keys, names: keys.toSorted(), openings: undefined }
    if (isSmall(keys)) this.#remember(shape, alike)
    return shape
  }

  #remember(shape: Shape, alike: Shape[] | undefined): void {
    if (this.#count >= maxShapes) {
      for (const byFirstName of this.#shapes) byFirstName.clear()
      this.#count = 0
    }
    const { keys } = shape
    if (alike === undefined || alike.length >= maxAlike) this.#shapes[keys.length]!.set(keys[0]!, [shape])
    else alike.push(shape)
    this.#count++
  }
}

/** How the member of this name begins, when it stands at this index. */
export function opening(name: string, index: number): string {
  return `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false
  return true
}

function isSmall(keys: readonly string[]): boolean {
  if (keys.length > maxNames) return false
  let units = 0
  for (const key of keys) units += key.length
  return units <= maxUnits
}
