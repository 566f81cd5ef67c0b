import assert from 'node:assert/strict'
import type { EventWire } from '../../src/protocol/event.ts'
import { type PaymentChain, takesPlace } from './payment-fates.ts'
import type { ModelDraft } from '../story/log-model.ts'
import { placeOf, type StoredDrafts } from './stored-drafts.ts'

type Truth = Readonly<{
  accepted: ReadonlyMap<string, ModelDraft>
  payments: PaymentChain
  /** Transactions for which the operator vouched. */
  vouched: ReadonlySet<string>
}>

/** Events that must be in the log, by the course of each transaction alone: each event, and how often. */
function expectedEvents({ accepted, payments }: Truth): ReadonlyMap<string, number> {
  const expected = new Map<string, number>()
  for (const [ref, draft] of accepted) {
    const fate = draft.tx === undefined ? 'final' : payments.fates.get(draft.tx)
    assert.ok(fate !== undefined, `${ref} names a transaction of the chain`)
    if (!takesPlace(fate)) continue
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
export function assertLogIsTruth(events: readonly EventWire[], truth: Truth): void {
  const found = new Map<string, number>()
  for (const event of events) found.set(keyOf(event), (found.get(keyOf(event)) ?? 0) + 1)
  const expected = expectedEvents(truth)
  const wrong = [...new Set([...found.keys(), ...expected.keys()])].filter(
    (key) => found.get(key) !== expected.get(key),
  )
  const differences = wrong.map(
    (key) => `${found.get(key) ?? 0} and not ${expected.get(key) ?? 0} times ${key}`,
  )
  assert.deepEqual(differences, [], 'the log has each final transaction once, and no other')
}

/**
 * Asserts that no event was published before its transaction was final, unless the operator vouched for it. Returns the
 * number of those.
 */
export function assertNoneEarly(events: readonly EventWire[], { payments, vouched }: Truth): number {
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
export function assertPlaces({ accepted, payments }: Truth, stored: StoredDrafts): void {
  for (const [ref, { tx }] of accepted) {
    const fate = tx === undefined ? 'final' : payments.fates.get(tx)
    const place = placeOf(stored, ref)
    if (fate === 'failed') assert.equal(place, 'failed', ref)
    else if (fate === 'never' || fate === 'gone') assert.equal(place, 'dropped', `${ref}: ${fate}`)
    else assert.equal(place, 'published', `${ref}: ${fate}`)
  }
  assert.equal(stored.held.size, 0, `still held: ${[...stored.held.keys()].slice(0, 5).join(', ')}`)
}

/** Asserts the order of the states of each contest by the log alone, and that nothing follows when it was paid. */
export function assertContestsPaid(events: readonly EventWire[]): number {
  const order = ['scheduled', 'opened', 'closed', 'paid']
  const contests = new Map<number, string[]>()
  for (const { seq, type, kind, contestId } of events) {
    if (contestId === null) continue
    const states = contests.get(contestId) ?? []
    contests.set(contestId, states)
    assert.ok(states.length < order.length, `event ${seq} follows the end of contest ${contestId}`)
    if (type === 'contest') states.push(kind)
    else assert.ok(type === 'pool' || states.length > 1, `event ${seq} comes before contest ${contestId}`)
  }
  for (const [id, states] of contests) assert.deepEqual(states, order, `contest ${id}`)
  return contests.size
}
