import type { DatabaseSync } from 'node:sqlite'

/** Literals, which stay as they are, and parameters. */
const literalOrParameter = /'[^']*'|\?\d*|:[a-z]\w*/gi

/**
 * The database, except that what is prepared stays prepared: every parameter of it is the expression `+?`.
 *
 * SQLite plans for the value that is bound where a plain `?` decides on an index, a join or a limit, and prepares the
 * whole statement again at each call that binds one (sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigenableqpsg:
 * the switch against it is out of reach here), with a call of the authorizer for each column. Our plans never depend on values.
 */
export function steady(db: DatabaseSync): DatabaseSync {
  return new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') return (sql: string) => target.prepare(withExpressions(sql))
      const member = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

function withExpressions(sql: string): string {
  return sql.replace(literalOrParameter, (found) => (found.startsWith("'") ? found : `+${found}`))
}
