import { CounterfoilError } from '../domain/index.ts'
import { listAudit, verifyAudit } from '../operate/index.ts'
import { acting, operatorOption, viewerOf } from './acting.ts'
import { type Command, exit } from './command.ts'
import { table, time } from './print.ts'
import { pageOf, pageOptions } from './reading.ts'

export const auditList: Command = {
  name: 'audit list',
  summary: 'What operators did and why, newest first',
  usage: 'counterfoil audit list [--limit N] [--before NUMBER]',
  example: 'counterfoil audit list --limit 20 --json',
  options: { ...pageOptions, ...operatorOption },
  run: acting(async (app, invocation) => {
    const { options, out } = invocation
    const { limit, before } = pageOf(options)
    if (before !== undefined && !/^\d{1,15}$/.test(before)) {
      throw new CounterfoilError('usage_invalid', `--before '${before}' is not the number of a row.`)
    }
    const query = { limit, ...(before === undefined ? {} : { before: Number(before) }) }
    const audit = await listAudit(app, viewerOf(app, invocation), query)
    out.json({ audit })
    const rows = audit.map((row) => [
      String(row.number),
      time(row.at),
      row.operator,
      row.role,
      row.act,
      row.subject,
      row.reason,
    ])
    for (const line of table([['ROW', 'AT', 'OPERATOR', 'ROLE', 'ACT', 'SUBJECT', 'REASON'], ...rows]))
      out.line(line)
    return exit.done
  }),
}

export const auditHead: Command = {
  name: 'audit head',
  summary: 'The digest of the last row: noted elsewhere, it shows later that no row is gone',
  usage: 'counterfoil audit head',
  example: 'counterfoil audit head >> somewhere-else.txt',
  options: operatorOption,
  run: acting(async (app, invocation) => {
    const { rows, digest, broken } = await verifyAudit(app, viewerOf(app, invocation))
    invocation.out.json({ rows, head: digest, broken })
    // Nobody should note the head of a chain that does not hold.
    invocation.out.line(broken === null ? digest : `broken at row ${broken.number}: ${broken.why}`)
    return broken === null ? exit.done : exit.problem
  }),
}

export const auditVerify: Command = {
  name: 'audit verify',
  summary: 'Follow the chain of the audit log and name the first row that was tampered with',
  usage: 'counterfoil audit verify [--head DIGEST]',
  example: 'counterfoil audit verify --json',
  options: { ...operatorOption, head: { type: 'string' } },
  run: acting(async (app, invocation) => {
    const { options, out } = invocation
    const { head } = options
    if (head !== undefined && !/^[0-9a-f]{64}$/.test(String(head))) {
      throw new CounterfoilError('usage_invalid', '--head is 64 hexadecimal digits, as verify prints them.')
    }
    const check = await verifyAudit(app, viewerOf(app, invocation), head as string | undefined)
    out.json(check)
    if (check.broken !== null) out.line(`broken at row ${check.broken.number}: ${check.broken.why}`)
    else out.line(`${check.rows} rows follow from each other; head ${check.digest}`)
    if (check.headFound === false) out.line(`no row has the digest ${head}: rows are gone, or were made anew`)
    return check.broken === null && check.headFound !== false ? exit.done : exit.problem
  }),
}
