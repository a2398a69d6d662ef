/** The recipient side: first answers kept with the work, fences and tombstones, for services you own. */

export { contractPath } from '../domain/index.ts'
export {
  type FastifyReplyLike,
  type FastifyRequestLike,
  fastifyPaths,
  fastifyRoute,
} from './adapters/fastify.ts'
export { type HonoContextLike, honoPaths, honoRoute } from './adapters/hono.ts'
export { nestAnswer } from './adapters/nest.ts'
export { guardedRoute, guardPaths, type NodeRequest } from './adapters/node.ts'
export type { Answer, StoredAnswer } from './answer.ts'
export { toResponse } from './answer.ts'
export type { Call, HeaderNames } from './call.ts'
export { type Guard, type Guarded, guard, type Handler, type Inside } from './guard.ts'
export type { PgClient, PgPool } from './postgres/client.ts'
export { type PostgresGuardOptions, postgresGuardStore } from './postgres/store.ts'
export type { KeyRecord, KeyState } from './record.ts'
export type { CallerRequest, GuardOptions } from './settings.ts'
export { type SqliteGuardOptions, sqliteGuardStore } from './sqlite/store.ts'
export type { Given, GuardStore, InMode, Mode } from './store.ts'
