import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { type Mutant, mutants } from '../mutants/mutants.ts'

type Text = Pick<Mutant, 'file' | 'find' | 'replace'>

const root = new URL('../../', import.meta.url)
const shipping = new URL('packages/counterfoil/src/', root)
const model = new URL('test/exhaustive/', root)
const mark = '?planted='
const planted = new Map<string, { readonly url: string; readonly text: string }>()

/**
 * The model with one bug switched on in what it runs: modules of its own, beside those of every other bug.
 *
 * @param text of the model itself, for steps whose order the model keeps; otherwise the mutant of this name is switched on
 * @throws Error when a text does not stand exactly once where it is said to
 */
export async function planting(name: string, text?: Text): Promise<typeof import('./explore.ts')> {
  const change = text ?? mutants.find((one) => one.name === name)
  if (change === undefined) throw new Error(`there is no mutant '${name}'`)
  const { file, find, replace } = change
  const url = new URL(file, text === undefined ? shipping : model)
  const before = readFileSync(url, 'utf8')
  const places = before.split(find).length - 1
  if (places !== 1) throw new Error(`'${name}': its text stands ${places} times in ${file}`)
  const id = encodeURIComponent(name)
  planted.set(id, { url: url.href, text: before.replace(find, () => replace) })
  return await import(`${new URL('explore.ts', model)}${mark}${id}`)
}

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const [, id] = (context.parentURL ?? '').split(mark)
    const isOurs = resolved.url.startsWith(shipping.href) || resolved.url.startsWith(model.href)
    return id === undefined || !isOurs ? resolved : { ...resolved, url: `${resolved.url}${mark}${id}` }
  },
  load(asked, context, next) {
    const [url = '', id] = asked.split(mark)
    if (id === undefined) return next(asked, context)
    const change = planted.get(id)
    const source = change?.url === url ? change.text : readFileSync(new URL(url), 'utf8')
    return { format: 'module-typescript', source, shortCircuit: true }
  },
})
