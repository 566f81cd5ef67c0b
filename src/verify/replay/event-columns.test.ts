import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { randomLogs } from '../../../test/story/random-log.ts'
import { billionths } from '../../protocol/amount.ts'
import type { Entry } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { openEventColumns } from './event-columns.ts'

/** Fields of an event that a correction needs. */
const asked = ({ event, details }: Entry): unknown => ({
  ...event,
  tx: null,
  count: details?.count,
  month: details?.month,
})

suite('the columns of events', () => {
  test('keep the fields that a correction needs, of any event', () => {
    fc.assert(
      fc.property(randomLogs, (entries) => {
        const columns = openEventColumns()
        for (const entry of entries) columns.add(entry)
        for (const entry of entries) {
          const kept = columns.entry(entry.event.seq)
          assert.ok(kept !== undefined)
          assert.deepEqual(asked(kept), asked(entry))
        }
        assert.equal(columns.entry(seqOf(entries.length + 1)), undefined)
        assert.equal(columns.entry(seqOf(0)), undefined)
      }),
    )
  })

  test('grow by slabs, and keep amounts of any size', () => {
    const columns = openEventColumns()
    const amountOf = (seq: number): bigint => (seq % 3 === 0 ? 10n ** 27n + BigInt(seq) : BigInt(-seq))
    const count = 70_000
    for (let seq = 1; seq <= count; seq++) {
      const event = {
        seq: seqOf(seq),
        type: 'trade',
        kind: 'buy',
        atMs: msOf(seq),
        contestId: null,
        kots: billionths(amountOf(seq)),
        tx: null,
      } as const
      columns.add({ event, details: null })
    }
    for (const seq of [1, 2, 3, 65_535, 65_536, 65_537, count]) {
      assert.equal(columns.entry(seqOf(seq))?.event.kots, amountOf(seq), `seq ${seq}`)
    }
  })
})
