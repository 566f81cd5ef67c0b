import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { commit, openDatabase, story, tell } from '../../test/archive-story.ts'
import { seqOf } from '../protocol/seq.ts'
import { checkArchive } from './archive-check.ts'
import { openArchiveWriter } from './archive-writer.ts'

const HEAD = seqOf(9100)

/** September with three segments, an empty October, and an open November. */
function archive(): DatabaseSync {
  const db = openDatabase()
  commit(db, openArchiveWriter(db), [
    ...story(1, 9000, Date.UTC(2026, 8, 1), 60_000),
    ...story(9001, 100, Date.UTC(2026, 10, 1), 60_000),
  ])
  return db
}

const faults = (db: DatabaseSync): string[] =>
  [...checkArchive(db, HEAD)].flatMap(({ month, file, fault }) =>
    fault === null ? [] : [`${month} ${file}: ${fault}`],
  )

const DAMAGES: readonly (readonly [string, string, RegExp])[] = [
  [
    'a line of the log',
    `UPDATE events SET line = replace(line, 'buy', 'bux') WHERE seq = 5000`,
    /4097 to 8192/,
  ],
  ['a line of the details', `UPDATE details SET line = line || ' ' WHERE seq = 7`, /details: .*1 to 4096/],
  ['a segment', `UPDATE segments SET bytes = zeroblob(length(bytes)) WHERE last_seq = 8192`, /2026-09/],
  [
    'the end of a segment',
    `UPDATE segments SET bytes = substr(bytes, 1, length(bytes) - 1)`,
    /what was written/,
  ],
  [
    'the last segment, which is gone',
    'DELETE FROM segments WHERE last_seq = 9000',
    /8193 to 9000 are missing/,
  ],
  ['a middle segment, which is gone', 'DELETE FROM segments WHERE last_seq = 8192', /join at byte/],
  [
    'what a segment is checked by',
    'UPDATE segments SET bytes_crc = 0 WHERE last_seq = 4096',
    /what was written/,
  ],
  ['a manifest', `UPDATE months SET manifest = replace(manifest, '"sha256":"', '"sha256":"0')`, /digests/],
]

suite('the check of the archive', () => {
  test('finds nothing wrong with what was written, however often the writer began anew', () => {
    assert.deepEqual(faults(archive()), [])
    const db = openDatabase()
    for (const event of [tell(1, Date.UTC(2026, 8, 1)), tell(2, Date.UTC(2026, 9, 1))]) {
      commit(db, openArchiveWriter(db), [event])
    }
    assert.deepEqual(
      [...checkArchive(db, seqOf(2))].filter(({ fault }) => fault !== null),
      [],
    )
  })

  for (const [what, sql, expected] of DAMAGES) {
    test(`finds damage to ${what}`, () => {
      const db = archive()
      db.exec(sql)
      assert.match(faults(db).join('\n'), expected)
    })
  }
})
