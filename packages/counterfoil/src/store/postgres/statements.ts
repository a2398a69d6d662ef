import { acceptStatement } from './accept.ts'
import { acceptFreshStatement } from './accept-fresh.ts'
import { alertUnattendedStatement, consumeAlertStatement, planAlertStatement } from './alerts.ts'
import { beginRepeatStatement, renewStatement, takeDueStatement } from './due.ts'
import {
  claimStatement,
  giveUpStatement,
  postponeStatement,
  renewOutboxStatement,
  tryAloneStatement,
} from './outbox.ts'
import { holdStatement } from './pace.ts'
import { planStatement } from './plan.ts'
import { planFreshStatement } from './plan-fresh.ts'
import { settleStatement } from './settle.ts'
import { settleFirstStatement } from './settle-first.ts'

/** Every statement that writes, for one schema. */
export function writingStatements(schema: string) {
  return {
    accept: acceptStatement(schema, 'many'),
    acceptOne: acceptStatement(schema, 'one'),
    acceptFresh: acceptFreshStatement(schema, 'many'),
    acceptFreshOne: acceptFreshStatement(schema, 'one'),
    claim: claimStatement(schema),
    tryAlone: tryAloneStatement(schema),
    renewOutbox: renewOutboxStatement(schema),
    plan: planStatement(schema, 'many'),
    planOne: planStatement(schema, 'one'),
    planFresh: planFreshStatement(schema, 'many'),
    planFreshOne: planFreshStatement(schema, 'one'),
    postponePlan: postponeStatement(schema, 'outbox'),
    postponeAlert: postponeStatement(schema, 'alert'),
    giveUp: giveUpStatement(schema),
    consumeAlert: consumeAlertStatement(schema),
    planAlert: planAlertStatement(schema),
    alertUnattended: alertUnattendedStatement(schema),
    takeDue: takeDueStatement(schema, 'free'),
    takeDueLimited: takeDueStatement(schema, 'limited'),
    beginRepeat: beginRepeatStatement(schema, 'free'),
    beginRepeatLimited: beginRepeatStatement(schema, 'limited'),
    holdOrPass: holdStatement(schema, 'passes over'),
    hold: holdStatement(schema, 'waits'),
    renew: renewStatement(schema),
    settle: settleStatement(schema, 'many'),
    settleOne: settleStatement(schema, 'one'),
    settleFirst: settleFirstStatement(schema, 'many'),
    settleFirstOne: settleFirstStatement(schema, 'one'),
  }
}
