import { readFileSync } from 'node:fs'
import { type Mutant, mutants } from './mutants.ts'

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

/** @throws Error when its text does not stand there exactly once: it would switch nothing on, or not what it says */
export function mutated({ name, file, find, replace }: Mutant, source: string): string {
  const places = source.split(find).length - 1
  if (places !== 1) throw new Error(`mutant '${name}': its text stands ${places} times in ${file}`)
  return source.replace(find, () => replace)
}
