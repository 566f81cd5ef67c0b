import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { EventWire } from '../../protocol/event.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { firstPosition } from '../../verify/reading/month-entries.ts'
import { streamEntry } from './page-entries.ts'

/** A JSON value that is nested deeper than a program can write again. A message of a stream has room for it. */
const DEEP: unknown = JSON.parse('{"0":'.repeat(10_000) + '1' + '}'.repeat(10_000))
/** Lists that are nested deeper than a program can join as text. */
const DEEP_SEQ: unknown = JSON.parse('['.repeat(10_000) + ']'.repeat(10_000))
const EVENT: EventWire = {
  seq: 1,
  type: 'trade',
  kind: 'buy',
  at: '2026-10-01T00:00:00.000Z',
  atMs: 1_790_812_800_000,
  contestId: null,
  kots: '1.000000000',
  tx: null,
}

suite('an event of an origin that is nested too deep', () => {
  test('is wrong, as any other event that Daybook does not write', () => {
    const { next } = firstPosition()
    const deepEvent: EventWire & Readonly<{ more: unknown }> = { ...EVENT, more: DEEP }
    assert.throws(() => streamEntry(deepEvent, null, next), WrongError)
    assert.throws(() => streamEntry(EVENT, { title: DEEP }, next), WrongError)
    const deepSeq: EventWire = Object({ ...EVENT, seq: DEEP_SEQ })
    assert.throws(() => streamEntry(deepSeq, { title: 'a' }, next), WrongError)
    assert.equal(streamEntry(EVENT, null, next).event.seq, 1)
  })
})
