import assert from 'node:assert/strict'
import type { EventWire } from '../../src/protocol/event.ts'
import { type PaymentChain, takesPlace } from './payment-fates.ts'
import type { ModelDraft } from '../story/log-model.ts'
import { placeOf, type StoredDrafts } from './stored-drafts.ts'

type Told = Readonly<{
  accepted: ReadonlyMap<string, ModelDraft>
  payments: PaymentChain
  /** Pairs of payouts of one prize. */
  twins: readonly (readonly [string, string])[]
  /** Transactions for which the operator vouched. */
  vouched: ReadonlySet<string>
}>

/** Events that must be in the log, told by the course of each transaction alone: each event, and how often. */
function expectedEvents(
  { accepted, payments, twins }: Told,
  stored: StoredDrafts,
): ReadonlyMap<string, number> {
  // The books admit one payout of a prize that was paid twice. Either may be first.
  const second = new Set(twins.map(([first, twin]) => (stored.published.has(twin) ? first : twin)))
  const expected = new Map<string, number>()
  for (const [ref, draft] of accepted) {
    const fate = draft.tx === undefined ? 'final' : payments.fates.get(draft.tx)
    assert.ok(fate !== undefined, `${ref} names a transaction of the chain`)
    if (!takesPlace(fate) || second.has(ref)) continue
    const key = keyOf({ contestId: null, kots: null, tx: null, ...draft })
    expected.set(key, (expected.get(key) ?? 0) + 1)
  }
  return expected
}

function keyOf(draft: Pick<EventWire, 'type' | 'kind' | 'contestId' | 'kots' | 'tx'>): string {
  const { type, kind, contestId, kots, tx } = draft
  return `${type}/${kind} of ${contestId}: ${kots === null ? '' : Number(kots)} in ${tx}`
}

/** Asserts that the log has exactly the events that it must have, once each, and nothing else. */
export function assertLogIsTruth(events: readonly EventWire[], told: Told, stored: StoredDrafts): void {
  const found = new Map<string, number>()
  for (const event of events) found.set(keyOf(event), (found.get(keyOf(event)) ?? 0) + 1)
  const expected = expectedEvents(told, stored)
  const wrong = [...new Set([...found.keys(), ...expected.keys()])].filter(
    (key) => found.get(key) !== expected.get(key),
  )
  const said = wrong.map((key) => `${found.get(key) ?? 0} and not ${expected.get(key) ?? 0} times ${key}`)
  assert.deepEqual(said, [], 'the log has each final transaction once, and no other')
}

/**
 * Asserts that no event was published before its transaction was final, unless the operator vouched for it. Returns the
 * number of those.
 */
export function assertNoneEarly(events: readonly EventWire[], { payments, vouched }: Told): number {
  let early = 0
  for (const { seq, tx, atMs } of events) {
    if (tx === null) continue
    const fate = payments.fates.get(tx)
    assert.ok(fate !== undefined && takesPlace(fate), `event ${seq} is of a transaction that is ${fate}`)
    const finalAt = payments.chain.finalAt(tx) ?? Infinity
    if (atMs >= finalAt) continue
    early += 1
    assert.ok(
      vouched.has(tx),
      `event ${seq} was published ${finalAt - atMs} ms before its transaction was final`,
    )
  }
  return early
}

/** Asserts where each accepted draft is in the end: failed ones are listed as failed, lost ones as dropped. */
export function assertPlaces({ accepted, payments, twins }: Told, stored: StoredDrafts): void {
  const paired = new Set(twins.flat())
  for (const [ref, { tx }] of accepted) {
    const fate = tx === undefined ? 'final' : payments.fates.get(tx)
    const place = placeOf(stored, ref)
    if (fate === 'failed') assert.equal(place, 'failed', ref)
    else if (fate === 'never' || fate === 'gone') assert.equal(place, 'dropped', `${ref}: ${fate}`)
    else if (!paired.has(ref)) assert.equal(place, 'published', `${ref}: ${fate}`)
  }
  for (const pair of twins) {
    const places = new Set(pair.map((ref) => placeOf(stored, ref)))
    assert.deepEqual(places, new Set(['dropped', 'published']), pair.join(' and '))
  }
  assert.equal(stored.held.size, 0, `still held: ${[...stored.held.keys()].slice(0, 5).join(', ')}`)
}

/** Asserts the order and the balances of each contest by the log alone, and that each was paid. */
export function assertContestsPaid(events: readonly EventWire[]): number {
  const contests = new Map<number, { state: string; pool: number; owed: Map<string, number> }>()
  const states: Readonly<Record<string, readonly string[]>> = {
    play: ['running'],
    pool: ['upcoming', 'running', 'paying'],
    prize: ['paying'],
    payout: ['paying'],
    expiry: ['paying'],
  }
  const after: Readonly<Record<string, readonly [string, string]>> = {
    opened: ['upcoming', 'running'],
    closed: ['running', 'paying'],
    cancelled: ['running', 'paying'],
    paid: ['paying', 'paid'],
  }
  for (const { seq, type, kind, contestId, kots } of events) {
    if (contestId === null) continue
    const says = `event ${seq} ${type}/${kind} of contest ${contestId}`
    if (kind === 'scheduled') {
      assert.ok(!contests.has(contestId), says)
      contests.set(contestId, { state: 'upcoming', pool: 0, owed: new Map() })
      continue
    }
    const contest = contests.get(contestId)
    assert.ok(contest !== undefined, says)
    const { owed } = contest
    const amount = Number(kots ?? 0)
    const owe = (of: string, by: number): void => {
      owed.set(of, (owed.get(of) ?? 0) + by)
      assert.ok((owed.get(of) ?? 0) >= 0, `${says} leaves less than nothing owed`)
    }
    if (type === 'contest') {
      const [from, to] = after[kind] ?? ['', '']
      assert.equal(contest.state, from, says)
      contest.state = to
      if (to === 'paid') assert.deepEqual([contest.pool, ...owed.values()].filter(Boolean), [], says)
      continue
    }
    assert.ok(
      type === 'correction' || states[type]?.includes(contest.state),
      `${says}, which is ${contest.state}`,
    )
    // Corrections are of the prize of the winner.
    if (type === 'prize' || type === 'correction') owe(type === 'prize' ? kind : 'winner', amount)
    if (type === 'expiry' || (type === 'payout' && kind !== 'refund')) owe(kind, -amount)
    if (type === 'prize' || kind === 'refund' || kind === 'returned' || type === 'correction')
      contest.pool -= amount
    else if (type === 'pool') contest.pool += amount
    assert.ok(contest.pool >= 0, `${says} leaves less than nothing in the pool`)
  }
  for (const [id, { state }] of contests) assert.equal(state, 'paid', `contest ${id}`)
  return contests.size
}
