/** One figure in a process of its own: `node case.ts GROUP NAME PLACE AMOUNTS`, the last two as JSON; prints JSON. */
import { cases } from './cases.ts'
import type { Place } from './contender.ts'
import type { Amounts } from './measure.ts'

const [group, name, place = '', amounts = ''] = process.argv.slice(2)
const found = cases.find((one) => one.group === group && one.name === name)
if (found === undefined) throw new Error(`no case ${group} / ${name}`)
const figure = await found.measure(JSON.parse(place) as Place, JSON.parse(amounts) as Amounts)
process.stdout.write(`${JSON.stringify(figure)}\n`, () => process.exit())
