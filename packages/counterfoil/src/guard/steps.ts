import { CounterfoilError } from '../domain/index.ts'

/**
 * Work in steps, each of which may be a value or a promise: the same rule runs at once on SQLite, whose
 * transaction must not outlive one turn of the event loop, and asynchronously on PostgreSQL.
 */
export type Steps<Value> = Generator<unknown, Value, unknown>

/** One step: gives what `value` becomes. */
export function* step<Value>(value: Value | Promise<Value>): Steps<Value> {
  return (yield value) as Value
}

/** @throws CounterfoilError `guard_handler_async` at the first promise */
export function runAtOnce<Value>(steps: Steps<Value>): Value {
  let { done, value } = steps.next()
  while (!done) {
    if (isPromise(value)) {
      // Nobody will wait for it; a rejection must not end the process.
      value.then(undefined, () => {})
      return finish(steps, handlerAsync())
    }
    ;({ done, value } = steps.next(value))
  }
  return value as Value
}

export async function runAsync<Value>(steps: Steps<Value>): Promise<Value> {
  let { done, value } = steps.next()
  while (!done) {
    let given: unknown
    try {
      given = await value
    } catch (error) {
      ;({ done, value } = steps.throw(error))
      continue
    }
    ;({ done, value } = steps.next(given))
  }
  return value as Value
}

function finish<Value>(steps: Steps<Value>, error: Error): never {
  steps.throw(error)
  throw error
}

function isPromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function handlerAsync(): CounterfoilError {
  return new CounterfoilError('guard_handler_async', 'A handler on SQLite gave a promise; all was undone.', {
    hint: 'Do what needs waiting before guard.handle(); inside, write rows and return a plain answer.',
  })
}
