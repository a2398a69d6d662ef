import { CounterfoilError } from '../domain/index.ts'
import { type OperatorRole, operatorRoles } from '../store/index.ts'

/** A person with a name; what he may do is a matter of his role. */
export interface Operator {
  readonly name: string
  readonly role: OperatorRole
}

/** The least role that each act needs; a higher one may do what a lower one may. */
const needs = {
  search: 'viewer',
  overview: 'viewer',
  'receipts.list': 'viewer',
  'receipts.show': 'viewer',
  'receipts.payload': 'operator',
  'effects.list': 'viewer',
  'effects.show': 'viewer',
  'effects.request': 'operator',
  'effects.ask': 'operator',
  'effects.repeat': 'operator',
  'effects.place-tombstone': 'operator',
  'effects.withdraw': 'operator',
  'effects.confirm': 'operator',
  'effects.refuse': 'operator',
  'effects.propose': 'operator',
  'effects.approve': 'approver',
  'effects.reject': 'approver',
  'recipients.list': 'viewer',
  'quarantine.list': 'viewer',
  'quarantine.show': 'viewer',
  'quarantine.payload': 'operator',
  'quarantine.assign': 'operator',
  'quarantine.reprocess': 'operator',
  'quarantine.dismiss': 'operator',
  'quarantine.dry-run': 'operator',
  'quarantine.reprocess-many': 'approver',
  'quarantine.dismiss-many': 'approver',
  'backfill.list': 'viewer',
  'backfill.show': 'viewer',
  'backfill.plan': 'operator',
  'backfill.approve': 'approver',
  'backfill.run': 'operator',
  'backfill.pause': 'operator',
  'backfill.resume': 'operator',
  'retention.plan': 'viewer',
  'retention.apply': 'approver',
  'retention.erase': 'approver',
  'retention.erase-plan': 'operator',
  'retention.erase-many': 'approver',
  'retention.propose-erase-many': 'approver',
  'quarantine.propose-many': 'approver',
  'audit.list': 'viewer',
  'audit.verify': 'viewer',
} as const satisfies Record<string, OperatorRole>

export type OperatorAct = keyof typeof needs

export function isRole(text: string): text is OperatorRole {
  return (operatorRoles as readonly string[]).includes(text)
}

/** What an operator of this role may do. */
export function actsOf(role: OperatorRole): OperatorAct[] {
  return (Object.keys(needs) as OperatorAct[]).filter((act) => mayDo(role, act))
}

function mayDo(role: OperatorRole, act: OperatorAct): boolean {
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(needs[act])
}

/** @throws CounterfoilError `not_authorised` */
export function authorise({ name, role }: Operator, act: OperatorAct): void {
  if (mayDo(role, act)) return
  throw new CounterfoilError(
    'not_authorised',
    `'${act}' needs the role ${needs[act]}; '${name}' is ${role}.`,
    {
      hint: 'Ask somebody with that role, or give it to this operator in the configuration.',
    },
  )
}
