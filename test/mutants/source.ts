import { readFileSync } from 'node:fs'
import { type Change, type Mutant, mutants } from './mutants.ts'

const sources = new URL('../../packages/counterfoil/src/', import.meta.url)
const mark = '?mutant='

export function sourceUrl(file: string): string {
  return new URL(file, sources).href
}

/** The module of ours as the mutant has it: another instance than that of any other mutant. */
export function urlFor(url: string, mutant: string): string {
  return `${url}${mark}${encodeURIComponent(mutant)}`
}

/** Whose instance of a module this is; null: nobody's. */
export function mutantIn(url = ''): string | null {
  const [, name] = url.split(mark)
  return name === undefined ? null : decodeURIComponent(name)
}

export function isSource(url: string): boolean {
  return url.startsWith(sources.href) && url.endsWith('.ts')
}

export function mutantCalled(name: string): Mutant {
  const mutant = mutants.find((one) => one.name === name)
  if (mutant === undefined) throw new Error(`there is no mutant '${name}'`)
  return mutant
}

export function textOf(url: string): string {
  return readFileSync(new URL(url), 'utf8')
}

/** @throws Error when a text does not stand there exactly once: it would switch nothing on, or not what it says */
export function mutated({ name, ...change }: Mutant, file: string, source: string): string {
  return changesOf(change).reduce((text, { file: where, find, replace }) => {
    if (where !== file) return text
    const places = text.split(find).length - 1
    if (places !== 1) throw new Error(`mutant '${name}': its text stands ${places} times in ${file}`)
    return text.replace(find, () => replace)
  }, source)
}

export function changesOf({ also, ...change }: Omit<Mutant, 'name'>): readonly Change[] {
  return also === undefined ? [change] : [change, also]
}
