import { secrets } from './secrets.ts'

/** Commands that look into the ledger, for someone who has seen the demo. */
export function lookInside(unknownKey: string | undefined): string {
  const command = 'npm run -s counterfoil --'
  return [
    `  ${command} status`,
    `  ${command} effects list`,
    unknownKey === undefined ? '' : `  ${command} effects show ${unknownKey}`,
    `  ${command} quarantine list`,
  ]
    .filter((line) => line !== '')
    .join('\n')
}

/** A GitHub delivery by hand, ready to paste. The secret of the demo is no secret; one from the environment is not shown. */
export function handMade(server: string): string {
  const isOwn = process.env.GITHUB_WEBHOOK_SECRET !== undefined
  const secret = isOwn ? '"$GITHUB_WEBHOOK_SECRET"' : `"${secrets.github[0]}"`
  return `
  BODY='{"action":"opened","issue":{"number":1,"title":"Hello"},"repository":{"full_name":"you/yours"}}'
  SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac ${secret} | sed 's/.*= //')
  curl -i ${server}/in/github -H 'Content-Type: application/json' \\
    -H 'X-GitHub-Event: issues' -H 'X-GitHub-Delivery: mine-1' \\
    -H "X-Hub-Signature-256: sha256=$SIGNATURE" --data-binary "$BODY"
`
}
