import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openInserts } from '../books/inserts.ts'
import { openRefs } from './refs.ts'
import { createStore, openForWriting, storePath } from './store.ts'
import { seqOf } from '../../protocol/seq.ts'

suite('the refs of a log', () => {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-refs-'))
  test.after(() => rmSync(directory, { recursive: true }))

  test('give the seq of a ref, and the last ref of a range', () => {
    createStore(storePath(directory), { origin: 'daybook.test/refs', chain: 'opaque', simulated: true })
    const db = openForWriting(storePath(directory))
    const inserts = openInserts(db)
    const digest = new Uint8Array(16)
    const published = ['sim-00000001', 'by hand', 'sim-00000002', 'sim-by-hand', 'sim-00000010']
    published.forEach((ref, index) => inserts.ref(seqOf(index + 1), ref, digest))
    inserts.write()
    db.close()

    using refs = openRefs(directory)
    assert.equal(refs.seqOf('sim-00000002'), 3)
    assert.equal(refs.seqOf('sim-00000003'), undefined)
    assert.equal(refs.lastBetween('sim-0', 'sim-:'), 'sim-00000010')
    assert.equal(refs.lastBetween('a', 'b'), undefined)
  })
})
