import assert from 'node:assert/strict'
import { copyFileSync, rmSync } from 'node:fs'
import { suite, test } from 'node:test'
import { change, runCheck, flip, refusalAtStart } from '../../../test/story/damaged-log.ts'
import { type ImportStage, jsonl, openImportStage, opening, plays } from '../../../test/stage/import-stage.ts'
import { OTHER_KEY, TEST_KEY } from '../../../test/story/signing.ts'
import { readHighWater } from '../../log/store/high-water.ts'
import { openSignedTrees } from '../../log/tree/signed-trees.ts'
import { StoreError, storePath } from '../../log/store/store.ts'

const PLAYS = 600

/** The size of the tree in a log's mark. */
function markedSize(data: string): number {
  return Number(readHighWater(data)?.checkpoint.split('\n')[1])
}

/** Imports further plays. Asserts that they are refused because of the log, and that nothing changes. */
async function assertRefused(stage: ImportStage, reason: RegExp): Promise<void> {
  const before = stage.contents()
  const file = stage.file('more.jsonl', jsonl(plays(10, 10_000)))
  await assert.rejects(
    stage.import([file]),
    (error: unknown) => error instanceof StoreError && reason.test(error.message),
  )
  const { lock: _lock, ...after } = stage.contents()
  const { lock: _before, ...kept } = before
  assert.deepEqual(after, kept)
}

suite('an import into a signed log', () => {
  test('continues its tree, signs it, and marks it', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const { length: first } = opening()
    assert.equal(markedSize(stage.data), first)
    const outcome = await stage.import([stage.file('plays.jsonl', jsonl(plays(PLAYS)))])
    assert.ok(outcome.ok)
    assert.equal(markedSize(stage.data), first + PLAYS)
    change(stage.data, (db) => {
      const trees = openSignedTrees(db)
      assert.ok(trees.isSignedAt(first) && trees.isSignedAt(first + PLAYS))
      assert.equal(trees.firstWrong(), null)
    })
    assert.equal(refusalAtStart(stage.data), undefined)
    const { code, said } = await runCheck(stage.data, [TEST_KEY])
    assert.equal(code, 0, said)
  })

  test('changes nothing when it imports nothing', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const mark = readHighWater(stage.data)
    const outcome = await stage.import([stage.file('same.jsonl', jsonl(opening()))])
    assert.ok(outcome.ok && outcome.events === 0 && outcome.duplicates === opening().length)
    assert.deepEqual(readHighWater(stage.data), mark)
    assert.equal(refusalAtStart(stage.data), undefined)
  })

  test('is refused when the log was changed, cut, restored or removed', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const older = stage.file('older.db', '')
    copyFileSync(storePath(stage.data), older)
    const imported = await stage.import([stage.file('plays.jsonl', jsonl(plays(20)))])
    assert.ok(imported.ok)
    const whole = stage.file('whole.db', '')
    copyFileSync(storePath(stage.data), whole)

    change(stage.data, (db) => flip(db, 'events', 'line', 'seq = 10'))
    await assertRefused(stage, /^seq 10: the event is not what was published/)
    copyFileSync(whole, storePath(stage.data))
    change(stage.data, (db) => db.exec('DELETE FROM events WHERE seq > 20'))
    await assertRefused(stage, /^seq 5: the last signature is of the tree up to seq 4/)
    copyFileSync(older, storePath(stage.data))
    await assertRefused(stage, /^seq 5: the log ends at seq 4 but was published up to seq 24/)
    rmSync(storePath(stage.data))
    await assertRefused(stage, /^the store is gone/)
  })

  test('is refused with a key that never signed it', async () => {
    await using stage = await openImportStage()
    await stage.begin(opening())
    const file = stage.file('plays.jsonl', jsonl(plays(10)))
    await assert.rejects(stage.import([file], { keys: [OTHER_KEY] }), /is signed with another key/)
    assert.equal(refusalAtStart(stage.data), undefined)
    assert.equal(markedSize(stage.data), opening().length)
  })
})
