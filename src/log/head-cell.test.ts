import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openReader } from './open-reader.ts'
import { createStore, storePath } from './store/store.ts'
import { seqOf } from '../protocol/seq.ts'
import { followHead, openHeadCell } from './head-cell.ts'

const TURNS = 1_000
const TURNS_OF_WAKING = 5_000

suite('a thread that follows the head', () => {
  test('reports an unreadable store, and waits before it reads again', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'daybook-head-'))
    t.after(() => rmSync(directory, { recursive: true }))
    createStore(storePath(directory), { origin: 'daybook.test/head', chain: 'opaque', simulated: false })
    const cell = openHeadCell()
    const reader = openReader(directory, cell)
    reader.close()
    cell.move(seqOf(1))
    const stop = new AbortController()
    let reports = 0
    const began = performance.now()
    const followed = followHead(reader, cell, stop.signal, () => void (reports += 1))
    for (let turns = 0; turns < TURNS; turns++) await turn()
    const seconds = (performance.now() - began) / 1_000
    stop.abort()
    cell.move(seqOf(2))
    await followed
    // It reads again after a second at the latest, and a busy process may need some for its turns.
    assert.ok(reports >= 1 && reports <= 2 + seconds, `${reports} reports in ${seconds} s`)
  })
})

suite('the head in shared memory', () => {
  test('is the same for all who open it, counts the commits, and wakes those who wait for it', async () => {
    const cell = openHeadCell()
    const other = openHeadCell(cell.buffer)
    assert.deepEqual([other.read(), other.commits()], [0, 0])
    const woken: true[] = []
    void other.moved(other.read()).then(() => woken.push(true))
    cell.move(seqOf(3))
    // A second, after which one who waits looks by himself, has far more turns on any machine.
    for (let turns = 0; turns < TURNS_OF_WAKING && woken.length === 0; turns++) await turn()
    assert.equal(woken.length, 1, 'nobody waits for the end of a second')
    assert.deepEqual([other.read(), other.commits()], [3, 1])
    cell.move(seqOf(3))
    assert.deepEqual([other.read(), other.commits()], [3, 2])
    // The head is another one already.
    await other.moved(seqOf(2))
    cell.move(seqOf(2 ** 40))
    assert.equal(other.read(), 2 ** 40)
  })
})
