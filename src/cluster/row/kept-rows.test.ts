import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { createStore, openForWriting } from '../../log/store/store.ts'
import { openKeptRows } from './kept-rows.ts'

suite('the kept rows of a store', () => {
  test('are the newest ones up to a number of bytes, also after a start, and always the newest', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-kept-rows-'))
    t.after(() => rmSync(directory, { recursive: true }))
    const path = join(directory, 'daybook.db')
    createStore(path, { origin: 'daybook.test/kept', chain: 'opaque', simulated: false })
    const db = openForWriting(path)
    t.after(() => db.close())
    const places = (from = 0): readonly number[] =>
      openKeptRows(db, 100)
        .from(from)
        .map(({ place }) => place)
    let kept = openKeptRows(db, 100)
    for (let place = 1; place <= 40; place += 1) {
      kept.add({ place, bytes: new Uint8Array(30) })
      if (place % 7 === 0) kept = openKeptRows(db, 100)
    }
    assert.deepEqual(places(), [38, 39, 40])
    assert.deepEqual(places(40), [40])
    kept.add({ place: 41, bytes: new Uint8Array(500) })
    assert.deepEqual(places(), [41])
    kept.clear()
    assert.deepEqual(places(), [])
    for (const place of [1, 2, 3]) kept.add({ place, bytes: new Uint8Array(30) })
    assert.deepEqual(places(), [1, 2, 3])
    kept.clear()
    kept.add({ place: 1, bytes: new Uint8Array(30) })
    assert.deepEqual(places(), [1])
    kept.clear()
    for (const place of [1, 2, 3, 4]) kept.add({ place, bytes: new Uint8Array(25) })
    assert.deepEqual(places(), [1, 2, 3, 4], 'just so many bytes are kept')
  })
})
