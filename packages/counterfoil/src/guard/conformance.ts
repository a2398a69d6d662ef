import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { checkContract, classify, classifyLookup } from '../domain/index.ts'
import {
  type AnyGuard,
  guardOn,
  request,
  type Sending,
  type Service,
  seatHandler,
  seen,
} from './fixtures/service.ts'
import { contractPath } from './index.ts'

/** What a guard promises on every store: each test is a sentence of docs/guard.md. */
export function conformance(name: string, open: () => Promise<Service>): void {
  describe(`the guard on ${name}`, () => {
    let service: Service
    let guard: AnyGuard
    beforeEach(async () => {
      service = await open()
      guard = await guardOn(service)
    })
    afterEach(() => service.dispose())

    const send = async (about: Sending = {}, by: AnyGuard = guard, handler = seatHandler(service)) =>
      await seen(await by.handle(request(about), handler))
    const serve = async (method: string, path: string, caller = 'alice', by = guard) => {
      const response = await by.serve(request({ method, path, caller, key: null }))
      assert.ok(response, `${path} is served`)
      return await seen(response)
    }
    /** Lets time pass for what is stored. */
    const age = (ms: number) =>
      service.sql(
        `update guard_key set at = at - ${ms}, planned_at = planned_at - ${ms}, expires_at = expires_at - ${ms}`,
      )
    const hour = 3_600_000
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString()

    test('the first answer is stored with the work, and replayed byte for byte with a mark', async () => {
      const first = await send()
      const second = await send()
      assert.deepEqual([first.status, first.json], [201, { open: 'A1/k1' }])
      assert.equal(first.headers['idempotency-replayed'], undefined)
      assert.equal(second.headers['idempotency-replayed'], 'true')
      const { 'idempotency-replayed': _, ...headers } = second.headers
      assert.deepEqual({ ...second, headers }, first)
      assert.deepEqual(await service.rows(), ['A1/k1'])
      assert.deepEqual(
        [...guard.counters],
        [
          ['acted', 1],
          ['replayed', 1],
        ],
      )
    })

    test('any bytes are replayed as they were', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
      const handler = seatHandler(service, () => ({
        status: 200,
        body: bytes,
        headers: { 'content-type': 'application/x-any' },
      }))
      for (let time = 0; time < 2; time++) {
        const response = await guard.handle(request(), handler)
        assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes)
        assert.equal(response.headers.get('content-type'), 'application/x-any')
      }
      assert.equal((await service.rows()).length, 1)
    })

    test('64 requests with one key at once act once, and all that get an answer get the same', async () => {
      const answers = await Promise.all(
        Array.from({ length: 64 }, async () => {
          for (;;) {
            const answer = await send()
            if (answer.status !== 409) return answer
            assert.equal(answer.code, 'guard_in_flight')
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        }),
      )
      assert.deepEqual(
        new Set(answers.map(({ status, body }) => `${status} ${body}`)),
        new Set(['201 {"open":"A1/k1"}']),
      )
      assert.equal(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1)
      assert.deepEqual(await service.rows(), ['A1/k1'])
    })

    test('what cannot be decided is refused before anything is done, as a problem with a stable code', async () => {
      const fenced = (domain: string, version: string) => ({
        headers: { 'fence-domain': domain, 'fence-version': version },
      })
      const cases: [Sending, number, string][] = [
        [{ key: null }, 400, 'guard_key_missing'],
        [{ key: '' }, 400, 'guard_key_invalid'],
        [{ key: 'a b' }, 400, 'guard_key_invalid'],
        [{ key: 'k1, k1' }, 400, 'guard_key_invalid'],
        [{ key: 'x'.repeat(256) }, 400, 'guard_key_invalid'],
        [{ headers: { 'fence-domain': 'd' } }, 400, 'guard_fence_invalid'],
        [fenced('d', '-1'), 400, 'guard_fence_invalid'],
        [fenced('d', '9223372036854775808'), 400, 'guard_fence_invalid'],
        [fenced('', '1'), 400, 'guard_fence_invalid'],
        [{ body: JSON.stringify('x'.repeat(1_048_576)) }, 413, 'body_too_large'],
      ]
      for (const [sending, status, code] of cases) {
        const answer = await send(sending)
        assert.deepEqual([answer.status, answer.code], [status, code], JSON.stringify(sending).slice(0, 80))
        assert.equal(answer.headers['content-type'], 'application/problem+json')
        assert.match(answer.headers.link ?? '', /counterfoil-contract\.json>; rel="describedby"/)
      }
      const nobody = new Request('http://service.test/seats', {
        method: 'POST',
        headers: { 'idempotency-key': 'k1' },
      })
      assert.equal((await seen(await guard.handle(nobody, seatHandler(service)))).code, 'not_authenticated')
      assert.deepEqual(await service.rows(), [])
    })

    test('the same key with another method, path or body is refused, and acts no second time', async () => {
      await send()
      for (const other of [
        { body: { seat: 'B2' } },
        { path: '/seats?x=1' },
        { path: '/other' },
        { method: 'PUT' },
      ]) {
        const answer = await send(other)
        assert.deepEqual([answer.status, answer.code], [422, 'guard_key_reused'])
      }
      assert.deepEqual(await service.rows(), ['A1/k1'])
    })

    test('the same JSON in another spelling, and the same key in quotes, is the same request', async () => {
      await send({ body: '{"seat":"A1","n":1.0}' })
      const again = await send({ body: '{ "n": 1, "seat": "\\u0041\\u0031" }', key: '"k1"' })
      assert.equal(again.headers['idempotency-replayed'], 'true')
    })

    test('keys of two callers never meet', async () => {
      await send({ caller: 'alice', body: { seat: 'A1' } })
      const other = await send({ caller: 'bob', body: { seat: 'B2' } })
      assert.equal(other.status, 201)
      assert.deepEqual((await service.rows()).sort(), ['A1/k1', 'B2/k1'])
      assert.equal((await serve('GET', '/counterfoil/keys/k1', 'carol')).status, 404)
      assert.equal((await serve('PUT', '/counterfoil/tombstones/k1', 'carol')).status, 200)
      assert.equal(
        (await send({ caller: 'bob', body: { seat: 'B2' } })).status,
        201,
        "carol closed nobody's key but her own",
      )
    })

    test('a handler that throws undoes all, keeps nothing, and the next attempt acts', async () => {
      const order = { headers: { 'fence-domain': 'd', 'fence-version': '7' } }
      const failing = seatHandler(service, () => {
        throw new RangeError('planted')
      })
      await assert.rejects(guard.handle(request(order), failing), { name: 'RangeError', message: 'planted' })
      assert.deepEqual(await service.rows(), [])
      assert.equal((await serve('GET', '/counterfoil/keys/k1')).status, 404)
      assert.equal(
        (await send({ ...order, headers: { ...order.headers, 'fence-version': '6' } })).status,
        201,
        'the fence was not raised either',
      )
    })

    test('a 5xx undoes all and is not kept, unless asked', async () => {
      const failing = seatHandler(service, () => ({ status: 502, json: { no: 1 } }))
      assert.equal((await send({}, guard, failing)).status, 502)
      assert.deepEqual(await service.rows(), [])
      assert.equal((await send()).status, 201)

      const keeping = await guardOn(service, { storeServerErrors: true })
      assert.equal((await send({ key: 'k2' }, keeping, failing)).status, 502)
      const again = await send({ key: 'k2' }, keeping)
      assert.deepEqual([again.status, again.headers['idempotency-replayed']], [502, 'true'])
      assert.deepEqual(await service.rows(), ['A1/k1', 'A1/k2'])
      const record = await serve('GET', '/counterfoil/keys/k2')
      assert.deepEqual([record.status, record.json.state], [409, 'failed'])
    })

    test('a 4xx is an answer: kept with what was written, replayed, and looked up as refused', async () => {
      const declined = seatHandler(service, () => ({ status: 402, json: { declined: true } }))
      assert.equal((await send({}, guard, declined)).status, 402)
      assert.equal((await send()).status, 402)
      assert.deepEqual(await service.rows(), ['A1/k1'])
      const record = await serve('GET', '/counterfoil/keys/k1')
      assert.deepEqual([record.status, record.json.state, record.json.answer.status], [409, 'refused', 402])
    })

    test('an answer that cannot be kept undoes all', async () => {
      for (const answer of [
        { status: 99, json: 1 },
        { status: 200, body: 7 },
        { status: 204, body: 'x' },
        { status: 200, json: 1n },
        undefined,
        { status: 200, headers: { 'x\n': '1' } },
        { status: 200, body: 'x'.repeat(1_048_577) },
      ]) {
        await assert.rejects(
          guard.handle(
            request(),
            seatHandler(service, () => answer),
          ),
          { code: 'guard_answer_unfit' },
        )
      }
      assert.deepEqual(await service.rows(), [])
    })

    test('a session cookie of the first answer is not kept for others', async () => {
      const handler = seatHandler(service, () => ({
        status: 200,
        headers: { 'Set-Cookie': 'sid=1', ETag: '"1"' },
        json: 1,
      }))
      assert.equal((await send({}, guard, handler)).headers.etag, '"1"')
      assert.equal(JSON.stringify(await service.sql('select headers from guard_key')).includes('sid'), false)
    })

    describe('the fence', () => {
      const version = (number: number | string, key: string, domain = 'customer/42'): Sending => ({
        key,
        headers: { 'fence-domain': domain, 'fence-version': String(number) },
      })

      test('an older version is refused with the current one in body and header', async () => {
        assert.equal((await send(version(7, 'k7'))).status, 201)
        const older = await send(version(5, 'k5'))
        assert.deepEqual([older.status, older.code], [412, 'guard_fenced'])
        assert.deepEqual([older.headers['fence-version'], older.json.current], ['7', '7'])
        assert.equal((await send(version(8, 'k8'))).status, 201)
        assert.deepEqual(await service.rows(), ['A1/k7', 'A1/k8'])
      })

      test('an equal version with the same key is a replay, with another key it is refused', async () => {
        await send(version(7, 'k7'))
        assert.equal((await send(version(7, 'k7'))).headers['idempotency-replayed'], 'true')
        const other = await send(version(7, 'other'))
        assert.deepEqual([other.status, other.code], [412, 'guard_fenced'])
      })

      test('a key that acted is replayed also after a newer version has acted', async () => {
        await send(version(7, 'k7'))
        await send(version(9, 'k9'))
        assert.equal((await send(version(7, 'k7'))).status, 201)
      })

      test('versions compare as whole numbers up to 2^63 - 1, by domain and caller', async () => {
        assert.equal((await send(version('9223372036854775806', 'a'))).status, 201)
        assert.equal((await send(version('9223372036854775807', 'b'))).status, 201)
        assert.equal(
          (await send(version('9223372036854775806', 'c'))).headers['fence-version'],
          '9223372036854775807',
        )
        assert.equal((await send(version(10, 'd', 'customer/43'))).status, 201)
        assert.equal((await send(version(9, 'e', 'customer/43'))).status, 412)
        assert.equal((await send({ ...version(1, 'f'), caller: 'bob' })).status, 201)
      })

      test('where it is required, a request without it is refused', async () => {
        const strict = await guardOn(service, { fence: 'required' })
        assert.equal((await send({}, strict)).code, 'guard_fence_invalid')
      })

      test('it holds for requests without a key, where those are allowed', async () => {
        const loose = await guardOn(service, { key: 'optional' })
        const keyless = (number: number): Sending => ({ ...version(number, ''), key: null })
        assert.equal((await send(keyless(2), loose)).status, 201)
        assert.equal((await send(keyless(2), loose)).status, 412)
        assert.equal((await send(keyless(1), loose)).status, 412)
        assert.equal((await send({ key: null }, loose)).status, 201)
        assert.equal((await service.rows()).length, 2)
      })
    })

    describe('tombstones', () => {
      test('a closed key never acts, however often it is sent and closed', async () => {
        const closed = await serve('PUT', '/counterfoil/tombstones/k1')
        assert.deepEqual([closed.status, closed.json.state], [200, 'tombstoned'])
        const refused = await send()
        assert.deepEqual([refused.status, refused.code], [412, 'guard_tombstoned'])
        assert.deepEqual(await serve('PUT', '/counterfoil/tombstones/k1'), closed)
        assert.deepEqual((await serve('GET', '/counterfoil/keys/k1')).json.state, 'tombstoned')
        assert.deepEqual(await service.rows(), [])
      })

      test('a key that acted cannot be closed: the answer is the evidence', async () => {
        await send()
        const closing = await serve('PUT', '/counterfoil/tombstones/k1')
        assert.deepEqual([closing.status, closing.json.state], [409, 'acted'])
        assert.deepEqual(closing.json.answer.status, 201)
        assert.equal(closing.json.answer.body, '{"open":"A1/k1"}')
        assert.equal((await send()).headers['idempotency-replayed'], 'true')
      })

      test('of a race between acting and closing one wins, and both are told the same', async () => {
        for (let round = 0; round < 20; round++) {
          const key = `race-${round}`
          const tryUntilDecided = async <T extends { code: string | undefined; json: any }>(
            ask: () => Promise<T>,
          ): Promise<T> => {
            for (;;) {
              const answer = await ask()
              if (answer.code !== 'guard_in_flight' && answer.json.state !== 'in-flight') return answer
            }
          }
          const [sent, closed] = await Promise.all([
            tryUntilDecided(() => send({ key })),
            tryUntilDecided(() => serve('PUT', `/counterfoil/tombstones/${key}`)),
          ])
          const acted = (await service.rows()).includes(`A1/${key}`)
          assert.deepEqual([sent.status, closed.status], acted ? [201, 409] : [412, 200])
        }
      })
    })

    describe('lookups', () => {
      test('they tell what became of a key, with the stored answer', async () => {
        await send()
        const { status, json } = await serve('GET', '/counterfoil/keys/k1')
        assert.equal(status, 200)
        assert.deepEqual(
          [json.key, json.state, json.answer.status, json.answer.body],
          ['k1', 'acted', 201, '{"open":"A1/k1"}'],
        )
        assert.equal(json.answer.headers['x-seat'], 'A1/k1')
        const absent = await serve('GET', '/counterfoil/keys/k2')
        assert.deepEqual([absent.status, absent.json], [404, { key: 'k2', state: 'absent' }])
      })

      test('a body that is no text comes as base64, and a key is percent-encoded', async () => {
        await send(
          { key: '"a/b%\\"\\\\"' },
          guard,
          seatHandler(service, () => ({ status: 200, body: Uint8Array.of(0xff, 0) })),
        )
        const { json } = await serve('GET', `/counterfoil/keys/${encodeURIComponent('a/b%"\\')}`)
        assert.equal(json?.answer?.bodyBase64, '/wA=')
      })

      test('other methods and paths below are refused, and what lies elsewhere is not served', async () => {
        assert.equal((await serve('POST', '/counterfoil/keys/k1')).status, 405)
        assert.equal((await serve('GET', '/counterfoil/tombstones/k1')).status, 405)
        assert.equal((await serve('GET', '/counterfoil/keys/')).status, 404)
        assert.equal((await serve('GET', '/counterfoil/keys/a/b')).status, 404)
        assert.equal((await serve('GET', '/counterfoil/keys/%ff')).status, 400)
        assert.equal(await guard.serve(request({ method: 'GET', path: '/seats' })), null)
      })
    })

    describe('retention', () => {
      test('after its time the answer goes and the key stays: a repeat is refused, not carried out', async () => {
        await send()
        await age(hour + 1)
        const expired = await send()
        assert.deepEqual([expired.status, expired.code], [422, 'guard_key_expired'])
        assert.equal(await guard.clean(), 1)
        assert.equal((await send()).code, 'guard_key_expired')
        const [row] = await service.sql('select body, headers, expires_at from guard_key')
        assert.deepEqual({ ...row }, { body: null, headers: null, expires_at: null })
        assert.deepEqual((await serve('GET', '/counterfoil/keys/k1')).json.state, 'acted')
        assert.deepEqual(await service.rows(), ['A1/k1'])
      })

      test('where keys are forgotten, a request whose key could have been is refused, not carried out', async () => {
        const forgetting = await guardOn(service, { forgetKeys: true })
        const planned = (at: string): Sending => ({ headers: { 'effect-planned-at': at } })
        assert.equal((await send({}, forgetting)).code, 'guard_time_invalid')
        const first = planned(ago(0))
        assert.equal((await send(first, forgetting)).status, 201)
        await age(hour + 1)
        assert.equal(await forgetting.clean(), 1)
        assert.deepEqual(await service.sql('select * from guard_key'), [])
        const late = await send(planned(ago(hour + 1)), forgetting)
        assert.deepEqual([late.status, late.code], [422, 'guard_key_expired'])
        assert.equal(
          (await send({ ...planned(ago(-60_000)), key: 'k2' }, forgetting)).code,
          'guard_time_invalid',
        )
        assert.deepEqual(await service.rows(), ['A1/k1'])
      })

      test('one key with two planning times is not one request', async () => {
        const forgetting = await guardOn(service, { forgetKeys: true })
        await send({ headers: { 'effect-planned-at': ago(10_000) } }, forgetting)
        assert.equal(
          (await send({ headers: { 'effect-planned-at': ago(0) } }, forgetting)).code,
          'guard_key_reused',
        )
      })

      test('a tombstone goes only when every request with its key is beyond retention', async () => {
        const forgetting = await guardOn(service, { forgetKeys: true })
        await serve('PUT', '/counterfoil/tombstones/k1', 'alice', forgetting)
        assert.equal(await forgetting.clean(), 0)
        await age(hour + 1)
        assert.equal(await forgetting.clean(), 1)
        assert.equal(
          (await send({ headers: { 'effect-planned-at': ago(hour + 1) } }, forgetting)).code,
          'guard_key_expired',
        )

        await serve('PUT', '/counterfoil/tombstones/k9')
        await age(100 * hour)
        assert.equal(await guard.clean(), 0, 'where keys are kept, so are tombstones')
      })

      test('cleaning takes small batches, oldest first, and as many as it is told', async () => {
        for (let index = 0; index < 25; index++) await send({ key: `k${index}` })
        await age(hour + 1)
        assert.equal(await guard.clean({ batch: 4, atMost: 10 }), 10)
        assert.equal(await guard.clean({ batch: 4 }), 15)
        assert.equal(await guard.clean(), 0)
      })
    })

    describe('the stalled request', () => {
      test('with a bound on travel it cannot land after a lookup called it absent for good', async () => {
        const bounded = await guardOn(service, { acceptsFor: '30s' })
        assert.deepEqual(bounded.contract.lookup?.absence, { final: true, after: 35_000 })
        assert.equal((await send({}, bounded)).code, 'guard_time_invalid')
        assert.equal((await serve('GET', '/counterfoil/keys/k1', 'alice', bounded)).status, 404)
        const stalled = await send({ headers: { 'attempt-begun-at': ago(35_000) } }, bounded)
        assert.deepEqual([stalled.status, stalled.code], [422, 'guard_attempt_stale'])
        assert.equal((await send({ headers: { 'attempt-begun-at': ago(0) } }, bounded)).status, 201)
        const later = await send({ headers: { 'attempt-begun-at': ago(35_000) } }, bounded)
        assert.equal(later.headers['idempotency-replayed'], 'true', 'a late copy of what acted harms nobody')
      })

      test('without a bound, absence is a hint', () => {
        assert.deepEqual(guard.contract.lookup?.absence, { final: false })
      })
    })

    describe("inside the owner's transaction", () => {
      const inside = async (
        about: Sending,
        commits: (commit: boolean) => boolean,
        handler = seatHandler(service),
      ) => {
        const reading = await guard.read(request(about))
        assert.ok('call' in reading)
        let kind = ''
        await service.own((tx) => {
          const told = guard.inside(tx, reading.call, handler) as any
          const decide = ({ commit, kind: what }: { commit: boolean; kind: string }) => {
            kind = what
            return commits(commit)
          }
          return told instanceof Promise ? told.then(decide) : decide(told)
        })
        return kind
      }

      test("records and the owner's rows commit together, or not at all", async () => {
        assert.equal(await inside({}, () => false), 'acted')
        assert.deepEqual(await service.rows(), [])
        assert.equal(await inside({}, (commit) => commit), 'acted')
        assert.equal(await inside({}, (commit) => commit), 'replayed')
        assert.equal((await send()).headers['idempotency-replayed'], 'true')
        assert.deepEqual(await service.rows(), ['A1/k1'])
      })

      test('a refusal says that nothing is to be committed', async () => {
        let committed = true
        const kind = await inside(
          {},
          (commit) => (committed = commit),
          seatHandler(service, () => ({ status: 500, json: 1 })),
        )
        assert.deepEqual([kind, committed], ['undone', false])
      })
    })

    test("the published contract is the guard's own, stands its check, and reads every answer of the guard rightly", async () => {
      const published = await serve('GET', contractPath)
      assert.deepEqual(published.json, JSON.parse(JSON.stringify(guard.contract)))
      checkContract('service', guard.contract)
      const exchange = async (response: Response | null) => {
        assert.ok(response)
        return {
          kind: 'answered' as const,
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: new Uint8Array(await response.arrayBuffer()),
        }
      }
      const reads = async (about: Sending, handler = seatHandler(service), by = guard) =>
        classify(guard.contract, await exchange(await by.handle(request(about), handler)), Date.now()).kind
      const finds = async (key: string) =>
        classifyLookup(
          guard.contract,
          await exchange(await guard.serve(request({ method: 'GET', path: `/counterfoil/keys/${key}` }))),
        ).kind

      const fenced = (version: string) => ({ 'fence-domain': 'd', 'fence-version': version })
      assert.equal(await reads({ headers: fenced('5') }), 'confirmed')
      assert.equal(await reads({ headers: fenced('5') }), 'confirmed')
      assert.equal(await reads({ key: 'k0', headers: fenced('4') }), 'fenced')
      assert.equal(await reads({ body: { seat: 'other' } }), 'refused')
      assert.equal(
        await reads(
          { key: 'k2' },
          seatHandler(service, () => ({ status: 402, json: 1 })),
        ),
        'refused',
      )
      assert.equal(
        await reads(
          { key: 'k3' },
          seatHandler(service, () => ({ status: 500, json: 1 })),
        ),
        'unknown',
      )
      assert.deepEqual(
        [await finds('k1'), await finds('k2'), await finds('k3')],
        ['acted', 'refused', 'absent'],
      )
      await serve('PUT', '/counterfoil/tombstones/k4')
      assert.deepEqual([await finds('k4'), await reads({ key: 'k4' })], ['refused', 'fenced'])
      const bounded = await guardOn(service, { acceptsFor: '30s' })
      assert.equal(
        await reads(
          { key: 'k5', headers: { 'attempt-begun-at': ago(60_000) } },
          seatHandler(service),
          bounded,
        ),
        'notActed',
      )
      await age(2 * hour)
      assert.equal(
        await reads({}),
        'unknown',
        'an answer that is no longer kept proves nothing of this attempt',
      )
    })

    test('its tables come once, and a changed migration is refused', async () => {
      await Promise.all([guard.migrate(), guard.migrate()])
      await service.sql("update guard_migration set checksum = 'changed'")
      await assert.rejects(guard.migrate(), { code: 'store_migration_changed' })
      await service.sql("insert into guard_migration (version, name, checksum) values (99, 'later', 'x')")
      await assert.rejects(guard.migrate(), { code: 'store_schema_newer' })
    })
  })
}
