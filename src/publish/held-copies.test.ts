import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { jsonl, type Line, openImportStage, opening } from '../../test/stage/import-stage.ts'
import { openHeldTables } from '../log/held/held-tables.ts'
import { backupStore } from '../log/backup/backup.ts'
import { openForWriting, storePath } from '../log/store/store.ts'
import { billionths } from '../protocol/amount.ts'
import { msOf } from '../protocol/moment.ts'
import { contestIdOf } from '../protocol/seq.ts'
import type { HeldDraft } from '../log/held/held-draft.ts'

const AT = '2026-01-03T00:00:00.000Z'
const HELD: HeldDraft = {
  id: 5,
  ref: 'held-play',
  draft: {
    ref: 'held-play',
    atMs: null,
    type: 'play',
    kind: 'vote',
    contestId: contestIdOf(1),
    kots: billionths(2_000_000_000n),
    tx: 'transaction-1',
    details: { count: 3 },
  },
  acceptedAt: msOf(Date.UTC(2026, 0, 2)),
  chain: 'asked',
  place: null,
  settledAt: null,
  vouch: null,
  reason: null,
}
const FAILED = { ...HELD, id: 2, ref: 'failed-play', draft: { ...HELD.draft, ref: 'failed-play' } }

/** Puts a held and a failed draft into a store, or reads them. */
function tablesOf(path: string, write = false) {
  const db = openForWriting(path)
  try {
    const tables = openHeldTables(db)
    if (write) {
      const { id, ref, draft, acceptedAt } = FAILED
      const settledAt = msOf(Date.UTC(2026, 0, 2, 1))
      tables.add(HELD)
      tables.end({ id, ref, draft, acceptedAt, state: 'failed', settledAt, place: 'slot 9', reason: 'no' })
    }
    return { held: [...tables.all()], settled: tables.endedAfter('failed', 0, 10).map(({ ref }) => ref) }
  } finally {
    db.close()
  }
}

suite('held drafts', () => {
  test('are carried over by an import, which refuses a draft with the ref of one', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    tablesOf(storePath(stage.data), true)
    const play: Line = { at: AT, type: 'play', kind: 'vote', contestId: 1, kots: '2' }
    for (const ref of ['held-play', 'failed-play']) {
      const refused = await stage.import([stage.file('again.jsonl', jsonl([{ ...play, ref }]))])
      assert.ok(!refused.ok)
      assert.deepEqual(
        [refused.line, refused.field, refused.reason],
        [1, 'ref', 'is that of a draft that is held, failed or was dropped'],
      )
    }
    const imported = await stage.import([stage.file('new.jsonl', jsonl([{ ...play, ref: 'new' }]))])
    assert.ok(imported.ok)
    assert.deepEqual(tablesOf(storePath(stage.data)), { held: [HELD], settled: ['failed-play'] })
  })

  test('are passed over by no import: what would wait for one is refused', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const close: Line = { at: AT, type: 'contest', kind: 'closed', contestId: 1 }
    const lines = jsonl([{ at: AT, type: 'play', kind: 'vote', contestId: 1, kots: '2' }, close])
    tablesOf(storePath(stage.data), true)
    const before = stage.lines()
    const refused = await stage.import([stage.file('close.jsonl', lines)])
    assert.ok(!refused.ok)
    assert.deepEqual([refused.line, refused.field], [2, 'contestId'])
    assert.match(refused.reason, /held drafts/)
    assert.deepEqual(stage.lines(), before)
  })

  test('are in a backup', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    tablesOf(storePath(stage.data), true)
    const copy = join(stage.data, 'copy.db')
    await backupStore(storePath(stage.data), copy, () => undefined)
    assert.deepEqual(tablesOf(copy), { held: [HELD], settled: ['failed-play'] })
  })
})
