import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  openWrongSenders,
  WRONG_SENDERS_MAX,
  WRONG_TOKEN_MS,
  WRONG_TOKENS_FREE,
  WRONG_WAIT_MS_MAX,
} from './token-guard.ts'

/** Delays of several wrong tokens that arrive at once from one address. */
function waits(senders: ReturnType<typeof openWrongSenders>, address: string, count: number, nowMs = 0) {
  return Array.from({ length: count }, () => senders.waitOf(address, nowMs))
}

suite('a sender of wrong tokens', () => {
  test('gets some answers at once, then one a second, and is refused when too many wait', () => {
    const free = Array.from({ length: WRONG_TOKENS_FREE }, () => 0)
    const waiting = WRONG_WAIT_MS_MAX / WRONG_TOKEN_MS
    const slowed = Array.from({ length: waiting }, (_, index) => (index + 1) * WRONG_TOKEN_MS)
    const senders = openWrongSenders()
    const all = waits(senders, '192.0.2.1', WRONG_TOKENS_FREE + waiting + 2)
    assert.deepEqual(all, [...free, ...slowed, null, null])
    assert.equal(senders.waitOf('192.0.2.1', WRONG_TOKEN_MS), WRONG_WAIT_MS_MAX)
  })

  test('delays every address of its /64 and no other sender', () => {
    const senders = openWrongSenders()
    waits(senders, '2001:db8:1:2::1', WRONG_TOKENS_FREE)
    waits(senders, '192.0.2.1', WRONG_TOKENS_FREE)
    assert.equal(senders.waitOf('2001:db8:1:2:ffff::9', 0), WRONG_TOKEN_MS)
    assert.equal(senders.waitOf('::ffff:192.0.2.1', 0), WRONG_TOKEN_MS)
    assert.equal(senders.waitOf('2001:db8:1:3::1', 0), 0)
    assert.equal(senders.waitOf('192.0.2.2', 0), 0)
  })

  test('is forgotten when there are too many senders and it is idle longest', () => {
    const senders = openWrongSenders()
    waits(senders, '10.0.0.1', WRONG_TOKENS_FREE)
    waits(senders, '10.0.0.2', WRONG_TOKENS_FREE)
    for (let sender = 1; sender < WRONG_SENDERS_MAX; sender++)
      senders.waitOf(`10.1.${sender >> 8}.${sender & 255}`, 0)
    assert.equal(senders.waitOf('10.0.0.2', 0), WRONG_TOKEN_MS)
    assert.equal(senders.waitOf('10.0.0.1', 0), 0)
  })
})
