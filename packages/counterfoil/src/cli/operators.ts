import { CounterfoilError } from '../domain/index.ts'
import { isRole, newToken } from '../operate/index.ts'
import { type Command, exit } from './command.ts'
import { oneName } from './reading.ts'

export const operatorsNew: Command = {
  name: 'operators new',
  summary: 'Make a token for an operator: it is shown once, the configuration keeps its digest',
  usage: 'counterfoil operators new NAME [--role viewer|operator|approver]',
  example: 'counterfoil operators new dana --role operator',
  options: { role: { type: 'string' } },
  async run(invocation) {
    const name = oneName(invocation, 'an operator')
    const { role = 'operator' } = invocation.options
    if (typeof role !== 'string' || !isRole(role)) {
      throw new CounterfoilError('usage_invalid', `--role '${role}' is none of: viewer, operator, approver.`)
    }
    const { token, kept } = newToken()
    const { out } = invocation
    out.json({ name, role, token, kept })
    out.line(`token, for ${name} alone: ${token}`)
    out.line('in counterfoil({ operators: [ … ] }):')
    out.line(`  { name: ${JSON.stringify(name)}, role: '${role}', token: '${kept}' },`)
    return exit.done
  },
}
