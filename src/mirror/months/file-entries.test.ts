import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import {
  addToSum,
  deflateSegment,
  EMPTY_SUM,
  GZIP_HEADER,
  gzipTrailer,
} from '../../log/archive/gzip-member.ts'
import { MONTH_FILES, SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import { formatDetailsLine } from '../../protocol/details.ts'
import { formatEvent } from '../../protocol/event.ts'
import { boundOf, monthOf, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { priced } from '../../../test/story/story.ts'
import { fileEntries, type MonthFiles } from './file-entries.ts'

const FROM = Date.UTC(2026, 9, 1)
const MONTH = monthOf(msOf(FROM))
/** Three whole segments, and the part of a fourth. */
const EVENTS = 3 * SEGMENT_SEQS + 10

/** The lines of an event, which is the price of a token. */
function linesOf(seq: number): Readonly<Record<MonthFile, string>> {
  const blank = { kots: null, contestId: null, tx: null }
  const event = { seq: seqOf(seq), type: 'price', kind: 'usd', atMs: msOf(FROM + seq), ...blank } as const
  return { events: formatEvent(event), details: formatDetailsLine(event.seq, priced('0.5')) }
}

function monthFile(file: MonthFile): Buffer {
  const parts: Uint8Array[] = [GZIP_HEADER]
  let sum = EMPTY_SUM
  for (let start = 0; start < EVENTS; start += SEGMENT_SEQS) {
    const count = Math.min(SEGMENT_SEQS, EVENTS - start)
    const lines = Array.from({ length: count }, (_, index) => linesOf(start + index + 1)[file])
    const raw = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    sum = addToSum(sum, raw)
    parts.push(deflateSegment(raw))
  }
  return Buffer.concat([...parts, gzipTrailer(sum)])
}

suite('the entries of a month file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-file-entries-'))
  const downloaded = (file: MonthFile) => ({ path: join(folder, file), place: file, lastSeq: null })
  before(() => {
    for (const file of MONTH_FILES) writeFileSync(join(folder, file), monthFile(file))
  })
  after(() => rmSync(folder, { recursive: true }))

  for (const [lastSeq, from] of [
    [EVENTS, 1],
    [EVENTS, SEGMENT_SEQS],
    [EVENTS, SEGMENT_SEQS + 1],
    [null, 2 * SEGMENT_SEQS + 1],
    [EVENTS, 3 * SEGMENT_SEQS + 1],
    [null, EVENTS],
    [EVENTS, EVENTS],
  ] as const) {
    const whole = `${lastSeq === null ? 'an open' : 'a closed'} month`
    test(`from seq ${from} of ${whole} on come with the segments that hold them, and no earlier ones`, () => {
      const files = { events: downloaded('events'), details: downloaded('details') }
      const of: MonthFiles = { month: MONTH, firstSeq: 1, lastSeq, files }
      const given: Record<MonthFile, number[]> = { events: [], details: [] }
      let next = from
      const expected = () => ({ seq: seqOf(next), notBefore: boundOf(0) })
      for (const entries of fileEntries(of, expected, (month, file, { raw }) => {
        assert.equal(month, MONTH)
        given[file].push(Number(/^\{"seq":(\d+),/.exec(raw.toString())?.[1]))
      })) {
        for (const { event } of entries) assert.equal(event.seq, next++)
      }
      assert.equal(next, EVENTS + 1)
      const starts = [1, SEGMENT_SEQS + 1, 2 * SEGMENT_SEQS + 1, 3 * SEGMENT_SEQS + 1]
      const needed = starts.filter((start) => start + SEGMENT_SEQS > from)
      assert.deepEqual(given, { events: needed, details: needed })
    })
  }
})
