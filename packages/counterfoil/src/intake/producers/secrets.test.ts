import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { arrives, kindOf, vectorNames, vectorsOf, verdict } from '../fixtures/vectors.ts'
import { producer } from '../producer.ts'

/** Members of a configuration that hold what nobody may see, or what makes a verifier. */
const keyMembers =
  /^(?:secrets?|secretTokens|signingTokens|sharedKeys|credentials|tokens|verifyTokens|publicKeys|keys)$/
const isSecret = (member: string) => keyMembers.test(member) && !/^(?:publicKeys|keys)$/.test(member)

describe('keys and secrets', () => {
  for (const name of vectorNames.filter((one) => one in kindOf)) {
    const vector = vectorsOf(name).find((one) => one.expect === 'accept')!
    const members = Object.keys(vector.config).filter((member) => keyMembers.test(member))

    test(`${name}: none, an empty one and a blank one are refused at construction`, () => {
      for (const member of members) {
        for (const value of ['', ' ', [], [''], ['\n'], undefined]) {
          const config = { ...vector.config, [member]: value }
          assert.throws(
            () => kindOf[name]!(config),
            { code: 'config_invalid' },
            `${member}: ${inspect(value)}`,
          )
        }
      }
    })

    test(`${name}: are in no print of the producer, and in no refusal`, async () => {
      const { publicUrl } = vector.config
      const made = producer('p', kindOf[name]!(vector.config), publicUrl === undefined ? {} : { publicUrl })
      const headers = Object.fromEntries(Object.keys(vector.request.headers).map((header) => [header, 'x']))
      const url = vector.request.url.replace(/\?.*/, '')
      const refusal = await verdict(name, vector, { headers, url, body: Buffer.from('x') })
      assert.equal(refusal.kind, 'refused')
      assert.ok(arrives(vector).body.length > 0)
      const prints = [
        inspect(made, { depth: 20, showHidden: true }),
        JSON.stringify(made),
        JSON.stringify(refusal),
      ]
      for (const secret of members
        .filter(isSecret)
        .flatMap((member) => Object.values(vector.config[member]).flat())) {
        for (const form of formsOf(String(secret))) {
          for (const print of prints) assert.ok(!print.includes(form), `${name} shows ${form}`)
        }
      }
    })
  }
})

function formsOf(secret: string): readonly string[] {
  const bare = secret.replace(/^whsec_/, '')
  const bytes = [Buffer.from(bare), Buffer.from(bare, 'base64')].filter((one) => one.length >= 4)
  const all = [bare, ...bytes.map((one) => one.toString('hex')), Buffer.from(secret).toString('base64')]
  return all.filter((form) => form.length >= 4)
}
