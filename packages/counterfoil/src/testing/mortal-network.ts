import type { Network } from '../recipients/index.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/**
 * The network as one process has it: a dead process sends nothing and reads nothing.
 *
 * @param dieAfter the process dies when that many requests (from 1) were answered, before it reads the answer
 */
export function mortalNetwork(
  network: Network,
  process: SimulatedProcess,
  dieAfter: number = Number.POSITIVE_INFINITY,
): Network {
  let answered = 0
  return {
    send: (request, signal) =>
      process.guard(async () => {
        const exchange = await network.send(request, signal)
        if (++answered === dieAfter) process.die()
        return exchange
      }, false),
    close: () => network.close(),
  }
}
