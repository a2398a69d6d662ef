import { fuzz } from '../packages/counterfoil/src/intake/fixtures/fuzz.ts'

/**
 * Mutated deliveries of every producer kind through `receive`: `npm run fuzz [-- DELIVERIES [SEED [FIRST]]]`.
 * Exits with 1 when one was accepted without its signature, or broke something. One delivery alone:
 * `npm run fuzz -- 1 SEED NUMBER`.
 */

const [deliveries = 200_000, seed = Date.now() % 1_000_000, first = 0] = process.argv.slice(2).map(Number)
const begun = performance.now()
const { kinds, answers, findings, grown } = await fuzz({
  deliveries,
  seed,
  first,
  onProgress: (done) => process.stderr.write(`\r${done} of ${deliveries}`),
})
const seconds = ((performance.now() - begun) / 1000).toFixed(1)
const list = (map: ReadonlyMap<unknown, number>) =>
  [...map].map(([key, count]) => `${key}: ${count}`).join(', ')
console.log(`\nseed ${seed}, ${deliveries} deliveries to ${kinds.size} kinds in ${seconds} s`)
console.log(`answers  ${list(answers)}`)
console.log(`memory   grew by ${(grown / 1e6).toFixed(0)} MB after the first tenth`)
for (const { what, kind, vector, delivery } of findings.slice(0, 20)) {
  console.log(`FOUND    ${what}: ${kind}, ${vector}. Again: npm run fuzz -- 1 ${seed} ${delivery}`)
}
process.exitCode = findings.length === 0 ? 0 : 1
