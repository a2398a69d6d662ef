import type { Mutant } from './mutants.ts'

const sources = new URL('../../packages/counterfoil/src/', import.meta.url)

export function sourceUrl({ file }: Pick<Mutant, 'file'>): URL {
  return new URL(file, sources)
}

/** @throws Error when its text does not stand there exactly once: it would switch nothing on, or not what it says */
export function mutated({ name, file, find, replace }: Mutant, source: string): string {
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`mutant '${name}': its text stands ${places} times in ${file}`)
  return source.replace(find, () => replace)
}
