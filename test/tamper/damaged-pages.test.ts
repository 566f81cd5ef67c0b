import assert from 'node:assert/strict'
import { closeSync, openSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { storePath } from '../../src/log/store/store.ts'
import { change, makeLog, openFolder, runCheck } from '../story/damaged-log.ts'

const PAGE_BYTES = 1_024

/** Findings of the check of a log after a damage. */
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

/** Builds an index of the codes by one definition and then says that it has its own, as damaged pages would. */
function replaceIndex(data: string, made: string): void {
  const db = new DatabaseSync(storePath(data), { defensive: false })
  db.exec(`DROP INDEX events_code; CREATE INDEX events_code ON events ${made}; PRAGMA writable_schema = ON`)
  const sql = 'CREATE INDEX events_code ON events (code)'
  db.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'events_code'").run(sql)
  db.close()
}

suite('a store that is damaged where no line shows it', () => {
  for (const name of ['refs', 'contest_list_pool', 'lots_open', 'settled_state']) {
    test(`is found by the check: ${name} without its first page`, async () => {
      const said = await saidAfter((data) => destroy(data, name))
      assert.match(said, /^the store has a damaged page, table or index: /m)
    })
  }

  for (const [name, made] of [
    ['lacks an entry', '(code) WHERE seq <> 7'],
    ['has a wrong entry', '(code + (seq = 7))'],
  ] as const) {
    test(`is found by the check when an index ${name}`, async () => {
      const said = await saidAfter((data) => replaceIndex(data, made))
      assert.match(said, /row 7 missing from index events_code|wrong # of entries in index events_code/)
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
