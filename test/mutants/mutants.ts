/**
 * Protocol bugs to switch on one at a time: each breaks a rule of design.md section 3 by replacing `find` in one file of
 * `packages/counterfoil/src`. A text that does not stand there exactly once fails the run, so that none of them rots.
 */
export interface Mutant extends Change {
  readonly name: string
  /** The rule that it breaks, as it should be. */
  readonly rule: string
  /** A second line of defence that would catch it: taken away too, so that it is the rule that is tested. */
  readonly also?: Change
}

/** One text in one file that stands for another. */
export interface Change {
  readonly file: string
  readonly find: string
  readonly replace: string
}

export const mutants: readonly Mutant[] = [
  {
    name: 'a time-out is a failure',
    rule: 'a time-out leaves the effect unknown',
    file: 'domain/outcome.ts',
    find: `if (exchange.kind === 'unclear') return { kind: 'unknown', why: exchange.why }`,
    replace: `if (exchange.kind === 'unclear') return { kind: 'refused', why: exchange.why }`,
  },
  {
    name: 'a time-out is a retry',
    rule: 'a time-out proves nothing of whether it acted',
    file: 'domain/outcome.ts',
    find: `if (exchange.kind === 'unclear') return { kind: 'unknown', why: exchange.why }`,
    replace: `if (exchange.kind === 'unclear') return { kind: 'notActed', why: exchange.why }`,
  },
  {
    name: 'a lease that ends is a retry',
    rule: 'a lease that ran out while attempting means unknown, not planned',
    file: 'domain/lifecycle.ts',
    find: `leaseEnded: to('unknown'),`,
    replace: `leaseEnded: to('planned'),`,
  },
  {
    name: 'a 5xx is a refusal',
    rule: 'every 5xx leaves the effect unknown',
    file: 'domain/outcome.ts',
    find: 'if (status >= 400 && status < 500 && ![408, 409, 425, 429].includes(status)) {',
    replace: 'if (status >= 400 && ![408, 409, 425, 429].includes(status)) {',
  },
  {
    name: 'a 5xx did not act',
    rule: 'every 5xx leaves the effect unknown',
    file: 'domain/outcome.ts',
    find: '  if (credentialStatuses.includes(status)) {',
    replace: '  if (status >= 500 || credentialStatuses.includes(status)) {',
  },
  {
    name: 'a 409 is a refusal',
    rule: '408, 409, 425 and 429 refuse nothing',
    file: 'domain/outcome.ts',
    find: '![408, 409, 425, 429].includes(status)) {',
    replace: '![408, 425, 429].includes(status)) {',
  },
  {
    name: 'in flight is not read',
    rule: 'the answer for a key still in work leaves it unknown',
    file: 'domain/outcome.ts',
    find: 'if (ruleFor(stillInWork, exchange) !== undefined) {',
    replace: `if (ruleFor(stillInWork, exchange) !== undefined) return { kind: 'refused', why: 'used', ...about }
  if (false) {`,
  },
  {
    name: 'accepted is confirmed',
    rule: 'what is accepted is not yet done',
    file: 'domain/outcome.ts',
    find: `return { kind: 'unknown', accepted: true, why: \`answered \${status}: accepted and not yet done\`, ...about }`,
    replace: `return { kind: 'confirmed', why: \`answered \${status}\`, ...about }`,
  },
  {
    name: 'an answer speaks for earlier attempts',
    rule: 'an answer that proves its own attempt did not act proves nothing of an earlier one',
    file: 'domain/policy.ts',
    find: `  return othersOpen && !speaksForAll ? 'earlierOpen' : outcome.kind`,
    replace: `  return othersOpen && !speaksForAll && outcome.kind === 'fenced' ? 'earlierOpen' : outcome.kind`,
  },
  {
    name: 'a fence speaks for earlier attempts',
    rule: 'an answer that proves its own attempt did not act proves nothing of an earlier one',
    file: 'domain/policy.ts',
    find: `  return othersOpen && !speaksForAll ? 'earlierOpen' : outcome.kind`,
    replace: `  return othersOpen && !speaksForAll && outcome.kind !== 'fenced' ? 'earlierOpen' : outcome.kind`,
  },
  {
    name: 'a late settle overwrites',
    rule: 'a settlement is written only on the version it was decided on',
    file: 'store/sqlite/settle.ts',
    find: 'if (known.version !== expectedVersion) {',
    replace: 'if (known.version < 0) {',
  },
  {
    name: 'confirmed moves',
    rule: 'final states never move',
    file: 'domain/lifecycle.ts',
    find: `    absenceFinal: disputes,
    tombstoned: disputes,
    operatorConfirmed: stays,`,
    replace: `    absenceFinal: disputes,
    tombstoned: disputes,
    refused: to('refused'),
    unclear: to('unknown'),
    operatorConfirmed: stays,`,
    // The database refuses it too.
    also: {
      file: 'store/sqlite/effect-moves.ts',
      find: '    // The unique index of id.',
      replace: `    db.exec('drop trigger if exists counterfoil_effect_final')`,
    },
  },
  {
    name: 'a dispute is not raised',
    rule: 'a fact that contradicts a final state marks it disputed',
    file: 'domain/lifecycle.ts',
    find: 'refused: final({ confirmed: disputes, accepted: disputes, foundActed: disputes,',
    replace: 'refused: final({',
  },
  {
    name: 'nobody is told of the unknown',
    rule: 'what the engine cannot decide is given to its owner',
    file: 'engine/decide.ts',
    find: `  const escalates = next.kind === 'operator' && !effect.escalated`,
    replace: '  const escalates = false',
  },
  {
    name: 'escalation ends the effect',
    rule: 'an unknown effect that a person decides on stays unknown till then',
    file: 'domain/lifecycle.ts',
    find: `    nothingProven: stays,
    tombstoned: to('withdrawn'),
    operatorConfirmed: to('confirmed'),`,
    replace: `    nothingProven: to('refused'),
    tombstoned: to('withdrawn'),
    operatorConfirmed: to('confirmed'),`,
  },
  {
    name: 'retention of the recipient is ignored',
    rule: 'no repeat after the recipient may have forgotten the key',
    file: 'domain/policy.ts',
    find: `return remembersFor === 'unstated' ? null : first.begunAt + trustedMs(remembersFor)`,
    replace: `return remembersFor === 'unstated' ? null : Number.POSITIVE_INFINITY`,
  },
  {
    name: 'an unstated memory is for ever',
    rule: 'where a recipient does not say how long it remembers, no repeat is safe',
    file: 'domain/policy.ts',
    find: `return remembersFor === 'unstated' ? null : first.begunAt`,
    replace: `return remembersFor === 'unstated' ? Number.POSITIVE_INFINITY : first.begunAt`,
  },
  {
    name: 'a repeat where nothing is recognised',
    rule: 'no repeat after unknown where the contract makes none safe',
    file: 'domain/policy.ts',
    find: `  if (idempotency === undefined || idempotency.replays === 'nothing') return null`,
    replace: `  if (idempotency === undefined || idempotency.replays === 'nothing') return Number.POSITIVE_INFINITY`,
  },
  {
    name: 'absence is always final',
    rule: 'absence is final only where the contract says so',
    file: 'domain/policy.ts',
    find: 'if (lookup === undefined || !lookup.absence.final || first === undefined) return false',
    replace: 'if (lookup === undefined || first === undefined) return false',
  },
  {
    name: 'absence is not waited for',
    rule: 'absence is final only after the stated time',
    file: 'domain/policy.ts',
    find: 'askedAt >= Math.max(...ends) + milliseconds(lookup.absence.after ?? 0) &&',
    replace: 'askedAt >= 0 * Math.max(...ends) &&',
  },
  {
    name: 'forgotten is absent',
    rule: 'what the recipient may have forgotten is no proof of absence',
    file: 'domain/policy.ts',
    find: '&& answeredAt < knownUntil',
    replace: '&& answeredAt < Number.POSITIVE_INFINITY',
  },
  {
    name: 'absence is never final',
    rule: 'a lookup that proves absence lets the effect be attempted again',
    file: 'domain/policy.ts',
    find: 'if (lookup === undefined || !lookup.absence.final || first === undefined) return false',
    replace: 'if (lookup === undefined || lookup.absence.final || first === undefined) return false',
  },
  {
    name: 'pending is absent',
    rule: 'what a recipient knows of and has not done is not absent',
    file: 'domain/outcome.ts',
    find: `  if (read.kind !== 'default') return read
  const { status, about } = read
  if (status >= 200 && status < 300) return { kind: 'acted', ...about }
  return`,
    replace: `  if (read.kind !== 'default') return read.kind === 'pending' ? { ...read, kind: 'acted' } : read
  const { status, about } = read
  if (status >= 200 && status < 300) return { kind: 'acted', ...about }
  return`,
  },
  {
    name: 'withdrawn before the tombstone is confirmed',
    rule: 'withdrawn only when the recipient has accepted the tombstone',
    file: 'domain/outcome.ts',
    find: `return { kind: status >= 200 && status < 300 ? 'closed' : 'nothing', ...about }`,
    replace: `return { kind: 'closed', ...about }`,
  },
  {
    name: 'a tombstone on what acted withdraws it',
    rule: 'a tombstone that comes too late proves that it acted',
    file: 'engine/decide.ts',
    find: `return ({ acted: 'foundActed', refused: 'foundRefused', nothing: 'nothingProven' } as const)[kind]`,
    replace: `return ({ acted: 'tombstoned', refused: 'foundRefused', nothing: 'nothingProven' } as const)[kind]`,
  },
  {
    name: 'an unknown effect is forgotten',
    rule: 'what has a path to evidence becomes final',
    file: 'engine/decide.ts',
    find: '  return Math.round(now + wait + wait * 0.2 * spread)',
    replace: `  return next.kind === 'lookup' ? null : Math.round(now + wait + wait * 0.2 * spread)`,
  },
  {
    name: 'the lease is not checked before sending',
    rule: 'a process that slept past its lease sends nothing',
    file: 'engine/effects.ts',
    find: `if (ports.clock.now() >= (effect.dueAt ?? 0)) return notSent('the lease ended first')`,
    replace: '',
  },
  {
    name: 'a fresh key for a repeat',
    rule: 'all attempts of an effect carry the same idempotency key',
    file: 'engine/effects.ts',
    find: '  return { idempotencyKey, key, order, plannedAt, begunAt, correlation: correlationOf(attempts) }',
    replace: `  const fresh = attempts.length > 1 ? (\`\${idempotencyKey}\${attempts.length}\` as never) : idempotencyKey
  return { idempotencyKey: fresh, key, order, plannedAt, begunAt, correlation: correlationOf(attempts) }`,
  },
  {
    name: 'the body is made anew for a repeat',
    rule: 'all attempts of an effect carry the same bytes',
    file: 'recipients/http-recipient.ts',
    find: '    return { ...stored, headers: { ...stored.headers, ...own } }',
    replace: `    const body = stored.body === null ? null : Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(stored.body as never).toString()), at: about?.begunAt }))
    return { ...stored, body, headers: { ...stored.headers, ...own } }`,
  },
  {
    name: 'the attempt is written after the call',
    rule: 'no attempt reaches a recipient before it is durable',
    file: 'store/sqlite/plan.ts',
    find: 'insert into counterfoil_attempt (effect, number, begun_at, worker) values (?, 1, ?, ?)',
    replace:
      'insert into counterfoil_attempt (effect, number, begun_at, worker) select ?, 1, ?, ? where false',
  },
  {
    name: 'the fence is not sent',
    rule: 'the recipient compares the version',
    file: 'recipients/http-recipient.ts',
    find: '      if (header !== undefined) own[header.toLowerCase()] = String(order.version)',
    replace: '      void header',
  },
  {
    name: 'the fence is of another domain',
    rule: 'versions are compared within their ordering domain',
    file: 'recipients/http-recipient.ts',
    find: 'own[domain.toLowerCase()] = headerText(order.domain)',
    replace: `own[domain.toLowerCase()] = headerText(\`\${order.domain}/\${order.version}\`)`,
  },
  {
    name: 'a refused fence is a refusal',
    rule: 'what is older is fenced and not refused',
    file: 'domain/outcome.ts',
    find: '  if (status === fence?.rejectedWith) {',
    replace: `  if (status === fence?.rejectedWith) return { kind: 'confirmed', why: 'it is there', ...about }
  if (status === fence?.rejectedWith) {`,
  },
  {
    // Another idempotency key at a second plan is harmless: the first one is stored, and the row is found again.
    name: 'each plan has an effect of its own',
    rule: 'plans of one effect share its row, whichever event they come from',
    file: 'engine/planned-effect.ts',
    find: '  const key = effectKey(plan.key)',
    replace: `  const key = effectKey(\`\${plan.key}/\${at}\`)`,
  },
  {
    name: 'the payload is not compared at planning',
    rule: 'the same key with another payload is a conflict',
    file: 'store/sqlite/plan.ts',
    find: 'if (!agrees) {',
    replace: 'if (!agrees && recipient === undefined) {',
  },
  {
    name: 'effects of a plan that conflicts',
    rule: 'a plan that conflicts writes nothing',
    file: 'store/sqlite/plan.ts',
    find: '      const entered = this.#outbox.giveUp({ outbox, receipt, quarantine, at })',
    replace: `      const entered = this.#outbox.giveUp({ outbox, receipt, quarantine, at })
      for (const effect of effects) this.#effect(effect, outbox, at)`,
  },
  {
    name: 'the outbox record is consumed twice',
    rule: 'a record that was consumed plans nothing more',
    file: 'store/sqlite/plan.ts',
    find: '    if (!this.#outbox.holds(outbox, receipt)) {',
    replace: '    if (outbox < 0) {',
  },
  {
    name: 'what a trigger wrote stays after a conflict',
    rule: 'user rows and effects commit together or not at all',
    file: 'store/sqlite/plan.ts',
    find: `    if (conflict !== null) {
      undo()`,
    replace: '    if (conflict !== null) {',
  },
  {
    name: 'an error of a trigger drops the event',
    rule: 'a trigger that throws is tried again, then its receipt is quarantined',
    file: 'engine/planner.ts',
    find: '    await planFailed(ports, settings, work, error)',
    replace: `    void planFailed
    void error
    await ports.store.plan({ ...(await toPlan(ports, settings, work, [])) })`,
  },
  {
    name: 'the record is consumed before the plan',
    rule: 'the record is consumed in the transaction of its plan',
    file: 'store/sqlite/outbox.ts',
    find: '    plans.sort((a, b) => a.receipt - b.receipt)',
    replace: `    plans.sort((a, b) => a.receipt - b.receipt)
    for (const { receipt } of plans) this.#consumePlan.run(receipt)`,
  },
  {
    name: 'effects without a cause',
    rule: 'every effect names the receipts that caused it',
    file: 'store/sqlite/plan.ts',
    find: '    if (seq !== null) this.#cause.run(seq, receipt, effect.trigger, at)',
    replace: '',
  },
  {
    name: 'acknowledged before the commit',
    rule: 'acknowledge after the commit and never before',
    file: 'intake/take.ts',
    find: `    const accepted = await ports.store.accept(entry.acceptance)
`,
    replace: `    const accepted = await ports.store.accept(entry.acceptance).catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== 'commit_unknown') throw error
      return { outcome: 'accepted', receipt: entry.acceptance.receipt.id, outbox: -1, sameContentAs: null } as const
    })
`,
  },
  {
    name: 'a conflict is taken for a duplicate',
    rule: 'the same identity with other bytes is a conflict',
    file: 'store/sqlite/accept.ts',
    find: 'if (Buffer.compare(first.fingerprint, bytes.fingerprint) === 0) {',
    replace: 'if (Buffer.compare(first.fingerprint, bytes.fingerprint) <= 1) {',
  },
  {
    name: 'quarantine without an alert',
    rule: 'quarantine raises an alert in its transaction',
    file: 'store/sqlite/quarantine.ts',
    find: `      this.#raise({ reason, owner, receipt, quarantine: id, occasion: 'raised' }, at)
`,
    replace: '',
  },
  {
    name: 'a receipt without its outbox record',
    rule: 'a receipt is written with its outbox record',
    file: 'store/sqlite/accept.ts',
    find: `      this.#outbox.run(seq, outboxAt, worker, origin === 'live' ? 0 : 1)
`,
    replace: `      if (worker === null) this.#outbox.run(seq, outboxAt, worker, origin === 'live' ? 0 : 1)
`,
  },
  {
    name: 'stale deliveries are taken',
    rule: 'a stale timestamp is refused',
    file: 'intake/signature.ts',
    find: '  if (Math.abs(age) <= toleranceSeconds) return verified',
    replace: '  if (age !== toleranceSeconds) return verified',
  },
  {
    name: 'the signature is not checked',
    rule: 'nothing that is not verified is stored',
    file: 'intake/authenticate.ts',
    find: `  return verification.kind === 'refused'
    ? verification
    : { kind: 'authentic', delivery, mediaType, receivedAt }`,
    replace: `  return { kind: 'authentic', delivery, mediaType, receivedAt }`,
  },
  {
    name: 'an unsupported type is planned',
    rule: 'an authentic event of no supported type goes to quarantine',
    file: 'intake/interpret.ts',
    find: '  return fitEvent(ports.types, producer, asked, reading.value, ports.clock)',
    replace: `  const fits = fitEvent(ports.types, producer, asked, reading.value, ports.clock)
  return Promise.resolve(fits).then((fit) => (fit.kind === 'fits' ? fit : ({ ...fit, kind: 'fits', value: reading.value } as never)))`,
  },
  {
    name: 'an old view is decided on',
    rule: 'a decision on an outdated view is refused',
    file: 'store/sqlite/quarantine-decide.ts',
    find: `    if (known.version !== expectedVersion) return stays('stale', known.version)
`,
    replace: '',
  },
  {
    name: 'what was dismissed is reprocessed',
    rule: 'what was dismissed never starts work',
    file: 'store/sqlite/quarantine-decide.ts',
    find: `    if (known.state !== 'waiting') return stays('settled', known.version)
    if (known.version !== expectedVersion) return stays('stale', known.version)
`,
    replace: '',
  },
  {
    name: 'an alert is consumed before it is planned',
    rule: 'what is handed on is consumed with what delivers it',
    file: 'store/sqlite/settle.ts',
    find: `    if (alert !== undefined) this.#quarantine.alert(effect, expectedVersion + 1, alert, at)
`,
    replace: '',
  },
  {
    name: 'a commit nobody knows of is taken for written',
    rule: 'a commit whose outcome is not known is asked for again',
    file: 'engine/patience.ts',
    find: `      if (!passes(error)) throw error
`,
    replace: `      if (codeOf(error) === 'commit_unknown') return { kind: 'settled' } as Result
      if (!passes(error)) throw error
`,
  },
  {
    name: 'a late answer is dropped',
    rule: 'an answer is evidence whoever holds the lease',
    file: 'engine/effects.ts',
    find: `    view = settled.current
`,
    replace: `    view = settled.current
    if (learned.kind === 'answer') return
`,
  },
  {
    name: 'guard: another payload is replayed',
    rule: 'another payload under a key is refused',
    file: 'guard/decide.ts',
    find: '  if (row.fingerprint !== call.fingerprint) {',
    replace: '  if (row.fingerprint.length !== call.fingerprint.length) {',
  },
  {
    name: 'guard: a tombstone is not looked at',
    rule: 'a closed key never acts',
    file: 'guard/decide.ts',
    find: `  if (row.kind === 'tombstoned') {
`,
    replace: `  if (row.kind === 'tombstoned') return { kind: 'act' }
  if (row.kind === 'answered' && row.at < 0) {
`,
    // What acts on a closed key cannot be written beside its tombstone.
    also: {
      file: 'guard/sqlite/statements.ts',
      find: `insert into \${key} (id, key, fingerprint,`,
      replace: `insert or replace into \${key} (id, key, fingerprint,`,
    },
  },
  {
    name: 'guard: the key is not kept',
    rule: 'the first answer is stored in the transaction of the work',
    file: 'guard/act.ts',
    find: '    yield* step(session.keep({ id, key, fingerprint, plannedAt, at: claim.now, expiresAt, answer }))',
    replace: '    void [id, key, fingerprint, plannedAt, expiresAt]',
  },
  {
    name: 'guard: the fence lets an older version pass',
    rule: 'an older version never acts after a newer one',
    file: 'guard/sqlite/statements.ts',
    find: `
       where version < excluded.version\``,
    replace: `\``,
  },
  {
    name: 'guard: a late request acts',
    rule: 'a request that a lookup may have called absent never acts',
    file: 'guard/decide.ts',
    find: 'call.begunAt + acceptsForMs <= now)) {',
    replace: 'call.begunAt + acceptsForMs <= 0)) {',
  },
  {
    name: 'guard: an old effect acts on a forgotten key',
    rule: 'what may have acted and been forgotten is not carried out',
    file: 'guard/decide.ts',
    find: 'call.plannedAt + remembersForMs - clockSkewMs <= now)) {',
    replace: 'call.plannedAt + remembersForMs - clockSkewMs <= 0)) {',
  },
]
