/** Medians and percentiles; every bench prints the ratio beside the figure it is a ratio of. */

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** @param share 0 to 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** `12,345 [11,000..13,900]`: median and range. */
export function spread(values: readonly number[], digits = 0): string {
  const text = (value: number) =>
    value.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })
  return `${text(median(values))} [${text(Math.min(...values))}..${text(Math.max(...values))}]`
}

export function print(rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length))
  for (const [name, value] of rows) console.log(`${name.padEnd(width)}  ${value}`)
}

/** Runs `count` tasks, `atOnce` of them at a time, and gives each one's time in ms. */
export async function concurrently(
  count: number,
  atOnce: number,
  task: (index: number) => Promise<void>,
): Promise<number[]> {
  const times: number[] = new Array(count)
  let next = 0
  const sender = async () => {
    for (let index = next++; index < count; index = next++) {
      const begun = performance.now()
      await task(index)
      times[index] = performance.now() - begun
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
  return times
}
