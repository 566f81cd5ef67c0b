import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { deflateSegment, storeSegment } from '../../log/archive/gzip-member.ts'
import { SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import { monthOf, msOf } from '../../protocol/moment.ts'
import { openServedPieces } from './served-pieces.ts'

const month = monthOf(msOf(Date.UTC(2026, 9, 1)))
const raw = Buffer.from('a line\n')
/** The bytes of another zlib, by which a served piece is told from one that was compressed here. */
const bytes = Buffer.from(storeSegment(raw))
const place = (start: number) => ({ month, file: 'events', start }) as const
const [SERVED, OWN] = [bytes.toString('hex'), Buffer.from(deflateSegment(raw)).toString('hex')]

suite('the served pieces of a month', () => {
  test('are given once, and only for the same lines', () => {
    const pieces = openServedPieces()
    const give = (start: number, lines = raw) =>
      Buffer.from(pieces.segmentOf(place(start), lines)).toString('hex')
    pieces.add(month, 'events', { start: 10, bytes, raw, lastSeq: SEGMENT_SEQS })
    assert.equal(give(11), OWN)
    assert.equal(give(10), SERVED)
    assert.equal(give(10), OWN)
    pieces.add(month, 'events', { start: 10, bytes, raw: Buffer.from('A line\n'), lastSeq: SEGMENT_SEQS })
    assert.equal(give(10), OWN)
  })

  test('are forgotten when their segment is stored, also when they were not asked for', () => {
    const pieces = openServedPieces()
    const ends = [SEGMENT_SEQS, 2 * SEGMENT_SEQS, 2 * SEGMENT_SEQS + 7]
    for (const lastSeq of ends) pieces.add(month, 'events', { start: lastSeq, bytes, raw, lastSeq })
    // A segment that ends with its month is stored when the next month begins.
    pieces.forgetStored(2 * SEGMENT_SEQS + 7)
    assert.deepEqual(
      ends.map((start) => Buffer.from(pieces.segmentOf(place(start), raw)).toString('hex')),
      [OWN, OWN, SERVED],
    )
  })
})
