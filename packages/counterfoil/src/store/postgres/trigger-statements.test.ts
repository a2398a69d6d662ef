import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkTriggerStatement } from './trigger-statements.ts'

const allowed = [
  'select 1',
  'insert into customer values ($1)',
  "update note set body = 'commit; counterfoil.receipt' where id = 1",
  '-- rollback\nselect 1',
  '/* counterfoil.outbox */ delete from customer',
  'select count(*) from counterfoil.receipt',
  'with r as (select id from "counterfoil".receipt) select * from r',
  "insert into note values ($$drop schema counterfoil$$, $tag$ 'x $tag$)",
  'create table my_counterfoil (id int)',
  'insert into my_counterfoil values (1)',
]

const refused = [
  ...[
    'begin',
    'COMMIT',
    ' end',
    'rollback',
    '/* x */ abort',
    '-- y\nsavepoint s',
    'release s',
    'start transaction',
  ],
  ...[
    'prepare transaction $1',
    'set local role postgres',
    'reset role',
    'discard all',
    'do $$ begin end $$',
    'call p()',
  ],
  'copy customer from program $1',
  "update counterfoil.receipt set id = 'x'",
  'insert into "counterfoil"."outbox" values (1)',
  'delete from COUNTERFOIL.outbox',
  'with x as (delete from counterfoil.outbox returning 1) select * from x',
  'select * into copy from counterfoil.receipt',
  'drop table counterfoil.effect',
  'drop schema counterfoil cascade',
  'drop schema "counterfoil"',
  'create index mine on counterfoil.receipt (id)',
  'truncate counterfoil.tally',
  'merge into counterfoil.open using x on true when matched then delete',
  'create table counterfoil_mine (id int)',
]

for (const sql of allowed) {
  test(`a trigger may run: ${sql}`, () => checkTriggerStatement(sql, 'counterfoil'))
}
for (const sql of refused) {
  test(`a trigger may not run: ${sql}`, () => {
    assert.throws(() => checkTriggerStatement(sql, 'counterfoil'), { code: 'statement_refused' })
  })
}
