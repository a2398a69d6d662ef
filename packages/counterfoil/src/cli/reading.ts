import { CounterfoilError } from '../domain/index.ts'
import type { Page, Store } from '../store/index.ts'
import type { Command, Invocation } from './command.ts'

/** A command that reads an open store of the present schema, and closes it. */
export function reading(read: (store: Store, invocation: Invocation) => Promise<number>): Command['run'] {
  return async (invocation) => {
    const { store } = await invocation.app()
    await store.open({ migrate: false })
    try {
      return await read(store, invocation)
    } finally {
      await store.close()
    }
  }
}

export const pageOptions = { limit: { type: 'string' }, before: { type: 'string' } } as const

/** @throws CounterfoilError `usage_invalid` */
export function pageOf({ limit = '50', before }: Invocation['options']): Page {
  if (!/^[1-9]\d{0,3}$/.test(String(limit))) {
    throw new CounterfoilError('usage_invalid', `--limit '${limit}' is not a number from 1 to 9999.`)
  }
  return { limit: Number(limit), ...(typeof before === 'string' ? { before } : {}) }
}

/** @throws CounterfoilError `usage_invalid` */
export function oneName({ positionals }: Invocation, what: string): string {
  const [name, ...more] = positionals
  if (name === undefined || more.length > 0)
    throw new CounterfoilError('usage_invalid', `Name ${what}, and nothing else.`)
  return name
}
