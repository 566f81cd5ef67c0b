import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Message, MessagePlace } from './message.ts'
import { followsAnother, refusalOfPlace } from './next-message.ts'

const WANT: MessagePlace = { v: 1, logId: 'ab', stream: 2, place: 7, prev: Buffer.alloc(32, 1) }
const OTHER = Buffer.alloc(32, 2)
const sealAt = (change: Partial<MessagePlace>): Message => ({
  ...WANT,
  ...change,
  is: 'seal',
  head: 3,
  root: Buffer.alloc(32),
  next: 3,
  why: 'roll',
})

suite('a message for the next place', () => {
  test('follows another message only when it was made for this place of this stream of this log', () => {
    assert.equal(followsAnother(sealAt({ prev: OTHER }), WANT), true)
    for (const change of [{}, { logId: 'cd' }, { stream: 3 }, { place: 8 }]) {
      assert.equal(followsAnother(sealAt(change), WANT), false)
      const follows = Object.keys(change).length === 0
      assert.equal(followsAnother(sealAt({ ...change, prev: OTHER }), WANT), follows)
    }
  })

  test('is refused with its reason when it is not the wanted one', () => {
    const refusal = (change: Partial<MessagePlace>, place = 7): string | null =>
      refusalOfPlace(sealAt(change), place, WANT)
    assert.equal(refusal({}), null)
    assert.match(refusal({}, 8) ?? '', /place 7 is missing/)
    assert.match(refusal({ logId: 'cd' }) ?? '', /another log/)
    assert.match(refusal({ stream: 3 }) ?? '', /of stream 3 instead of 2/)
    assert.match(refusal({ place: 8 }) ?? '', /made for place 8/)
    assert.match(refusal({ prev: OTHER }) ?? '', /does not follow/)
  })
})
