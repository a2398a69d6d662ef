import type { Check } from './violation.ts'

/** I21: no secret and no payload in a receipt, an effect, a log line or an answer. */
export const checkSecrets: Check = ({ entries, records, secrets }, found) => {
  const look = (about: string, text: string) => {
    for (const secret of secrets)
      if (text.includes(secret)) found('I21', about, `it holds the text '${secret.slice(0, 6)}…'`)
  }
  for (const entry of entries) {
    if (entry.kind === 'logged') look('a log line', `${entry.message} ${JSON.stringify(entry.fields)}`)
    if (entry.kind === 'acknowledged') look(`the answer to delivery ${entry.delivery}`, entry.text)
  }
  for (const receipt of records.receipts) look(`receipt ${receipt.id}`, JSON.stringify(receipt))
  for (const entry of records.quarantine) look(`entry ${entry.id}`, JSON.stringify(entry))
  for (const { id, attempts, evidence } of records.effects)
    look(`effect ${id}`, JSON.stringify([attempts, evidence]))
}
