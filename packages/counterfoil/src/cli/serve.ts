import { CounterfoilError } from '../domain/index.ts'
import { serve } from '../server/index.ts'
import { type Command, exit } from './command.ts'

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Receive deliveries and work on effects until stopped',
  usage: 'counterfoil serve [--config FILE] [--host 127.0.0.1] [--port 4840]',
  example: 'counterfoil serve --config counterfoil.config.ts --port 4840',
  options: { host: { type: 'string' }, port: { type: 'string' } },
  async run({ options, app, out }) {
    const { host, port = '4840' } = options
    if (!/^\d{1,5}$/.test(String(port)) || Number(port) > 65_535) {
      throw new CounterfoilError('usage_invalid', `--port '${port}' is not a number from 0 to 65535.`)
    }
    const configured = await app()
    const server = await serve(configured, {
      port: Number(port),
      ...(typeof host === 'string' ? { host } : {}),
      env: process.env,
    })
    out.json({ url: server.url, store: configured.store.location })
    out.line(`Listening on ${server.url}, store ${configured.store.location}`)
    for (const name of configured.producers.keys()) out.line(`  POST ${server.url}/in/${name}`)
    await stopSignal()
    out.line('Stopping: no new deliveries; waiting for attempts in flight.')
    await server.stop()
    return exit.done
  },
}

/** The first signal drains; a second one ends the process at once, which loses nothing that was acknowledged. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(exit.problem)
        asked = true
        resolve()
      })
    }
  })
}
