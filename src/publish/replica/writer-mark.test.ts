import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { WriterMark } from './writer-mark.ts'
import { formatMark, parseMark } from './writer-mark.ts'

const MARK: WriterMark = {
  v: 1,
  node: 'A',
  run: 'A 1',
  logId: 'log',
  stream: 1,
  place: 12,
  digest: 'digest',
  seq: 100,
  root: 'root',
  program: '1.0.0',
  frames: [1],
  keys: ['0011aabb'],
  leads: 'newest',
  asks: false,
  contends: true,
  stopped: null,
}

const bytesOf = (of: unknown): Uint8Array => Buffer.from(JSON.stringify(of))

suite('the mark of a writer', () => {
  test('is read as it was told', () => {
    assert.deepEqual(parseMark(formatMark(MARK)), MARK)
    assert.deepEqual(parseMark(formatMark({ ...MARK, leads: null, stopped: 'fork' }))?.stopped, 'fork')
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
    ]) {
      assert.equal(parseMark(bytesOf(other)), null, JSON.stringify(other))
    }
    assert.equal(parseMark(Buffer.from('{')), null)
    assert.equal(parseMark(Buffer.from([0xff, 0xfe])), null)
    assert.equal(parseMark(Buffer.alloc(5000, 32)), null)
  })
})
