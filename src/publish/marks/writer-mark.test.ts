import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { SOME_MARK as MARK } from '../../../test/messages/some-mark.ts'
import { formatMark, parseMark } from './writer-mark.ts'

const bytesOf = (of: unknown): Uint8Array => Buffer.from(JSON.stringify(of))

suite('the mark of a writer', () => {
  test('is read as it was told', () => {
    assert.deepEqual(parseMark(formatMark(MARK)), MARK)
    const asking = { ...MARK, leads: 'newest', asks: 'B 1 7', answers: ['A 1 3'], stopped: 'fork' } as const
    assert.deepEqual(parseMark(formatMark(asking)), asking)
  })

  test('is ignored when it is anything else', () => {
    for (const other of [
      null,
      [],
      'mark',
      { ...MARK, v: 2 },
      { ...MARK, node: '' },
      { ...MARK, node: 'A'.repeat(201) },
      { ...MARK, place: -1 },
      { ...MARK, place: '12' },
      { ...MARK, frames: Array.from({ length: 21 }, () => 1) },
      { ...MARK, keys: [1] },
      { ...MARK, leads: 'often' },
      { ...MARK, asks: undefined },
      { ...MARK, atMs: 1.5 },
      { ...MARK, answers: Array.from({ length: 21 }, () => 'A') },
    ]) {
      assert.equal(parseMark(bytesOf(other)), null, JSON.stringify(other))
    }
    assert.equal(parseMark(Buffer.from('{')), null)
    assert.equal(parseMark(Buffer.from([0xff, 0xfe])), null)
    assert.equal(parseMark(Buffer.alloc(5000, 32)), null)
  })
})
