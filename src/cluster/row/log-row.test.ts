import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { followsOther, type LogRow, refusalOfRow, type RowBody, type RowPlace } from './log-row.ts'

const WANT: RowPlace = { v: 1, logId: 'ab', place: 7, prev: Buffer.alloc(32, 1) }
const OTHER = Buffer.alloc(32, 2)
const endAt = (change: Partial<RowPlace>): LogRow => ({
  ...WANT,
  ...change,
  is: 'end',
  head: 3,
  root: Buffer.alloc(32),
  nonce: Buffer.alloc(32),
})

suite('a row for the next place', () => {
  test('follows another row only when it was made for this place of this log', () => {
    assert.equal(followsOther(endAt({ prev: OTHER }), WANT), true)
    for (const change of [{}, { logId: 'cd' }, { place: 8 }]) {
      assert.equal(followsOther(endAt(change), WANT), false)
      const follows = Object.keys(change).length === 0
      assert.equal(followsOther(endAt({ ...change, prev: OTHER }), WANT), follows)
    }
  })

  test('is refused with its reason when it is not the wanted one', () => {
    const refusal = (change: Partial<RowPlace>, place = 7): string | null =>
      refusalOfRow(endAt(change), place, WANT)
    assert.equal(refusal({}), null)
    assert.match(refusal({}, 8) ?? '', /place 7 is missing/)
    assert.match(refusal({ logId: 'cd' }) ?? '', /another log/)
    assert.match(refusal({ place: 8 }) ?? '', /made for place 8/)
    assert.match(refusal({ prev: OTHER }) ?? '', /does not follow/)
  })
  test('begins a log at place 1, and nowhere else', () => {
    const identity = {
      id: 'ab',
      origin: 'daybook.test/rows',
      chain: 'opaque',
      simulated: false,
      former: [],
    } as const
    const refusal = (place: number, body: RowBody): string | null =>
      refusalOfRow({ ...WANT, place, ...body }, place, { ...WANT, place })
    const begin = { is: 'begin', identity, keys: [] } as const
    assert.equal(refusal(1, begin), null)
    assert.equal(refusal(7, { is: 'end', head: 0, root: WANT.prev, nonce: WANT.prev }), null)
    assert.match(refusal(7, begin) ?? '', /only the first row begins a log/)
    assert.match(
      refusal(1, { is: 'end', head: 0, root: WANT.prev, nonce: WANT.prev }) ?? '',
      /only the first row begins a log/,
    )
  })
})
