import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { bulkLines } from '../../../sim/bulk.ts'
import { openImportStage } from '../../../test/stage/import-stage.ts'
import { openAppender } from '../../log/append.ts'
import { createStore, openForWriting, storePath } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { draftDigest, parseDraft } from '../admission/grammar.ts'
import { parseLine } from '../admission/draft-json.ts'
import { testSigner } from '../../../test/story/signing.ts'

const CHAIN = 'solana'
const NEW_LOG = { origin: 'daybook.example/log', chain: CHAIN, simulated: false } as const

/** Rows of all tables except `meta`, which holds the log's random id, and the SQL of all indexes. */
function rowsOf(db: DatabaseSync): Readonly<Record<string, readonly unknown[]>> {
  const tables = db
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name <> 'meta'")
    .all()
  const indexes = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name").all()
  const rows = tables.map(({ name }) => [String(name), db.prepare(`SELECT * FROM ${String(name)}`).all()])
  return { ...Object.fromEntries(rows), indexes }
}

suite('an import', () => {
  test('leaves the same store as publishing draft by draft', async () => {
    await using imported = await openImportStage()
    await using published = await openImportStage()
    const span = { from: msOf(Date.UTC(2025, 10, 20)), to: msOf(Date.UTC(2026, 1, 10)) }
    const lines = [...bulkLines({ seed: 'same', ...span, count: 9_000 })]
    // Two imports: the second one continues the log of the first.
    const parts = [lines.slice(0, 4_100), lines.slice(4_100)]
    for (const [index, part] of parts.entries()) {
      const outcome = await imported.import([imported.file(`${index}.jsonl`, part.join('\n'))], {
        newLog: NEW_LOG,
      })
      assert.ok(outcome.ok)
    }

    createStore(storePath(published.data), NEW_LOG)
    using db = openForWriting(storePath(published.data))
    const appender = openAppender(db, testSigner(db))
    appender.begin()
    for (const [index, line] of lines.entries()) {
      // The first import ended here, and signed its tree.
      if (index === parts[0]?.length) {
        appender.commit()
        appender.begin()
      }
      const json = parseLine(line)
      assert.ok(json.ok)
      const parsed = parseDraft(json.value, { chain: CHAIN, mode: 'import' })
      assert.ok(parsed.ok)
      const { ref, atMs } = parsed.draft
      assert.ok(ref !== null && atMs !== null)
      appender.append(parsed.draft, { ref, digest: draftDigest(parsed.draft) }, atMs)
      appender.write()
    }
    appender.commit()

    using other = openForWriting(storePath(imported.data))
    const [a, b] = [rowsOf(other), rowsOf(db)]
    assert.deepEqual(Object.keys(a).toSorted(), Object.keys(b).toSorted())
    for (const [name, rows] of Object.entries(b)) assert.deepEqual(a[name], rows, name)
  })
})
