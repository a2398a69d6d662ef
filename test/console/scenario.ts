import type { ConsoleWorld } from './world.ts'

/** What an operator meets on a bad night: settled and unknown effects, and deliveries of each kind in quarantine. */
export async function badNight(world: ConsoleWorld): Promise<void> {
  const stateOf = async (key: string) => {
    const { effects } = await world.api(`search?q=${encodeURIComponent(key)}`)
    return effects[0]?.state
  }
  for (let number = 470; number < 481; number++) {
    await world.deliver(`inv-${number}`, 'invoice.due', { id: String(number), amount: number * 100 })
  }
  // Its first answer is lost: a log shows it twice, and the recipient did it once.
  world.fail('"481"', 'lost-answer')
  await world.deliver('inv-481', 'invoice.due', { id: '481', amount: 4900 })
  await world.deliver('inv-481', 'invoice.due', { id: '481', amount: 4900 })
  // No contract: nobody can ask, and nothing may be repeated.
  world.fail('ann@example.com', 'lost-answer')
  await world.deliver('rem-1', 'invoice.reminded', { to: 'ann@example.com' })
  world.fail('bob@example.com', 'lost-answer')
  await world.deliver('rem-2', 'invoice.reminded', { to: 'bob@example.com' })
  await world.deliver('rem-3', 'invoice.reminded', { to: 'cleo@example.com' })

  await world.deliver('seat-1', 'seat.ordered', { id: 'a1' })
  await world.deliver('seat-2', 'seat.ordered', { id: 'a2' })
  await world.deliver('seat-3', 'seat.ordered', { id: 'a3' })
  await world.deliver('inv-bad', 'invoice.due', { id: 'bad', amount: 'a lot' })
  await world.deliver('inv-470', 'invoice.due', { id: '470', amount: 1 })
  await world.deliver('inv-480-again', 'invoice.due', { id: '480', amount: 2 })
  await world.until('invoice 481 is confirmed', async () => (await stateOf('invoice/481')) === 'confirmed')
  await world.until('two letters are unknown', async () => (await world.api('unknown')).unknown.length === 2)
  await world.until('the effect conflict is in quarantine', async () => {
    return (await world.api('quarantine?reason=effect-conflict')).quarantine.length === 1
  })
}
