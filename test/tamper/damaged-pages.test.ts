import assert from 'node:assert/strict'
import { closeSync, openSync, writeSync } from 'node:fs'
import { suite, test } from 'node:test'
import { storePath } from '../../src/log/store/store.ts'
import { change, makeLog, openFolder, runCheck } from '../story/damaged-log.ts'

const PAGE_BYTES = 1_024

/** What the check of a log says after a damage. */
async function saidAfter(damage: (data: string) => void): Promise<string> {
  using folder = openFolder()
  makeLog(folder.data, [3, 10, 50])
  damage(folder.data)
  const { code, said } = await runCheck(folder.data)
  assert.equal(code, 1, said)
  return said
}

/** Fills the root page of a table or index with zeros. */
function destroy(data: string, name: string): void {
  const root = change(data, (db) => db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(name))
  const file = openSync(storePath(data), 'r+')
  try {
    const page = Number(root?.['rootpage'])
    writeSync(file, new Uint8Array(PAGE_BYTES), 0, PAGE_BYTES, (page - 1) * PAGE_BYTES)
  } finally {
    closeSync(file)
  }
}

suite('a store that is damaged where no line shows it', () => {
  for (const name of ['refs', 'contest_list_pool', 'lots_open', 'settled_state']) {
    test(`is found by the check: ${name} without its first page`, async () => {
      const said = await saidAfter((data) => destroy(data, name))
      assert.match(said, /^the store has a damaged page, table or index: /m)
    })
  }

  test('is found by the check when its counts of held drafts are wrong', async () => {
    const said = await saidAfter((data) => change(data, (db) => db.exec('UPDATE held_counts SET held = 7')))
    assert.match(said, /^held_counts: held is 7, and the store has 0$/m)
  })

  test('is found by the check when it has no counts of held drafts', async () => {
    const said = await saidAfter((data) => change(data, (db) => db.exec('DELETE FROM held_counts')))
    assert.match(said, /^held_counts: the row of the counts is missing$/m)
  })

  test('is found by the check when a ref names no event', async () => {
    const sql = "UPDATE refs SET seq = 51 WHERE ref = 'ref-7'"
    const said = await saidAfter((data) => change(data, (db) => db.exec(sql)))
    assert.match(said, /^refs: 1 rows name no event of the log, the first seq 51$/m)
  })
})
