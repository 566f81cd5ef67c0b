import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type DaybookEvent, formatEvent } from '../../protocol/event.ts'
import { boundOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { readEventLine } from './entry-lines.ts'

const AT_MS = Date.UTC(2026, 9, 1)
const EVENT = {
  seq: 3,
  type: 'play',
  kind: 'entry',
  at: '2026-10-01T00:00:00.000Z',
  atMs: AT_MS,
  contestId: 7,
  kots: '1.000000000',
  tx: null,
}
const read = (change: object): DaybookEvent =>
  readEventLine(JSON.stringify({ ...EVENT, ...change }), { seq: seqOf(3), notBefore: boundOf(AT_MS) })

test('a line of an event is read as it is written', () => {
  assert.equal(formatEvent(read({})), JSON.stringify(EVENT))
})

suite('a line of an event that Daybook would not write', () => {
  const table: readonly (readonly [change: object, fault: RegExp])[] = [
    [{ seq: '3' }, /the seq is not a whole number/],
    [{ seq: 4 }, /is missing: seq 4 is in its place/],
    [{ seq: 2 }, /seq 2 is in its place/],
    [{ type: 'gift' }, /the type is unknown/],
    [{ kind: 'An Entry' }, /the kind is not a word/],
    [{ atMs: '1' }, /`atMs` is not a moment/],
    [{ atMs: AT_MS - 1 }, /`at` is earlier/],
    [{ contestId: 0 }, /the contest is not a number/],
    [{ contestId: '7' }, /the contest is not a number/],
    [{ contestId: 7.5 }, /the contest is not a number/],
    [{ kots: 1 }, /the amount is not text/],
    [{ tx: 1 }, /the transaction is not text/],
    [{ at: '2026-10-01T00:00:00.001Z' }, /`at` is not `atMs`/],
  ]
  for (const [change, fault] of table)
    test(`names its fault: ${JSON.stringify(change)}`, () => assert.throws(() => read(change), fault))
})
