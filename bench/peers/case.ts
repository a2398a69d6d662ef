/**
 * One case in a process of its own: `node case.ts fill|measure GROUP NAME PLACE AMOUNTS`, the last two as JSON.
 * `measure` prints its figure as JSON.
 */
import { cases } from './cases.ts'
import type { Place } from './contender.ts'
import type { Amounts } from './measure.ts'

const [stage, group, name, placeText = '', amountsText = ''] = process.argv.slice(2)
const found = cases.find((one) => one.group === group && one.name === name)
if (found === undefined) throw new Error(`no case ${group} / ${name}`)
const place = JSON.parse(placeText) as Place
const amounts = JSON.parse(amountsText) as Amounts
if (stage === 'fill') await found.fill?.(place, amounts)
else console.log(JSON.stringify(await found.measure(place, amounts)))
process.exit()
