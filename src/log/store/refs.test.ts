import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { noRows, openRowWriter } from '../books/row-writer.ts'
import { openRefs } from './refs.ts'
import { createStore, openForWriting, storePath } from './store.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { Draft } from '../../protocol/draft.ts'
import { msOf } from '../../protocol/moment.ts'
import { openHeldTables } from '../held/held-tables.ts'

function draftOf(ref: string): Draft {
  return {
    ref,
    atMs: null,
    type: 'contest',
    kind: 'closed',
    contestId: null,
    kots: null,
    tx: null,
    details: null,
  }
}

suite('the refs of a log', () => {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-refs-'))
  test.after(() => rmSync(directory, { recursive: true }))

  test('give the seq of a ref, and the last ref of a range', () => {
    createStore(storePath(directory), { origin: 'daybook.test/refs', chain: 'opaque', simulated: true })
    const db = openForWriting(storePath(directory))
    const rows = noRows()
    const digest = new Uint8Array(16)
    const published = ['sim-00000001', 'by hand', 'sim-00000002', 'sim-by-hand', 'sim-00000010']
    published.forEach((ref, index) => rows.refs.set(ref, { seq: seqOf(index + 1), digest }))
    openRowWriter(db).write(rows)
    const held = { acceptedAt: msOf(0), settledAt: null, place: null, vouch: null, reason: null }
    const tables = openHeldTables(db)
    for (const [id, ref] of ['sim-00000011', 'sim-00000012'].entries()) {
      tables.add({ ...held, id: id + 1, ref, draft: draftOf(ref), chain: 'asked' })
    }
    db.close()

    using refs = openRefs(directory)
    assert.equal(refs.seqOf('sim-00000002'), 3)
    assert.equal(refs.seqOf('sim-00000003'), undefined)
    assert.equal(refs.lastBetween('sim-0', 'sim-00000011'), 'sim-00000010')
    assert.equal(refs.lastBetween('a', 'b'), undefined)
    assert.equal(refs.lastBetween('sim-0', 'sim-:'), 'sim-00000012', 'a held draft counts as sent')
    assert.ok(refs.isHeld('sim-00000011'))
    assert.ok(!refs.isHeld('sim-00000010'))

    const writing = openForWriting(storePath(directory))
    const settling = openHeldTables(writing)
    settling.end({
      id: 2,
      ref: 'sim-00000012',
      draft: draftOf('sim-00000012'),
      acceptedAt: msOf(0),
      state: 'failed',
      settledAt: msOf(1),
      place: null,
      reason: 'an instruction failed',
    })
    settling.remove(2)
    writing.close()
    assert.ok(!refs.isHeld('sim-00000012'))
    assert.equal(refs.lastBetween('sim-0', 'sim-:'), 'sim-00000012', 'a failed draft counts as sent')
  })
})
