import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { now } from './made-vectors/made.ts'
import { messages } from './made-vectors/messages.ts'
import { payments } from './made-vectors/payments.ts'
import { platforms } from './made-vectors/platforms.ts'
import { records } from './made-vectors/records.ts'
import { standards } from './made-vectors/standards.ts'

/**
 * Signs deliveries as their producers' documentation says, apart from the verifiers, with secrets that guard nothing:
 *
 *     npx node scripts/make-vectors.ts
 *
 * What each event must be taken for is written in the senders by hand.
 */

const directory = join(import.meta.dirname, '../vectors/made')

mkdirSync(directory, { recursive: true })
const made = { ...messages, ...payments, ...platforms, ...records, ...standards }
for (const [producer, vectors] of Object.entries(made)) {
  const written = vectors.map(
    ({ why, config, method = 'POST', url, headers = {}, body = '', events, answer }, at) => ({
      id: `${producer}/made-${at + 1}`,
      expect: 'accept',
      why,
      source: 'signed by scripts/make-vectors.ts',
      now,
      config,
      request: {
        method,
        url: url ?? `https://hooks.example/in/${producer}`,
        headers,
        bodyBase64: Buffer.from(body).toString('base64'),
      },
      ...(events === undefined ? {} : { events }),
      ...(answer === undefined ? {} : { answer }),
    }),
  )
  writeFileSync(join(directory, `${producer}.json`), `${JSON.stringify(written, null, 2)}\n`)
}
