import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { LOCK_FILE, lockDirectory, LockedError } from '../../src/log/store/lock.ts'

const START_MS_MAX = 30_000

/** A thread that has taken the first step to a lock, and goes back 5 ms after this one asks. */
const AT_FIRST_STEP = `
  import { DatabaseSync } from 'node:sqlite'
  import { workerData } from 'node:worker_threads'
  const { words, path } = workerData
  const db = new DatabaseSync(path)
  db.exec('BEGIN; SELECT count(*) FROM sqlite_schema')
  Atomics.store(words, 0, 1)
  Atomics.notify(words, 0)
  Atomics.wait(words, 1, 0)
  Atomics.wait(words, 2, 0, 5)
  db.close()`

suite('the lock of a data directory', () => {
  test('is refused while another has it', (t) => {
    const directory = newDirectory(t)
    using _lock = lockDirectory(directory)
    assert.throws(() => lockDirectory(directory), LockedError)
  })

  test('is had by one of two that ask at the same moment', async (t) => {
    const directory = newDirectory(t)
    lockDirectory(directory)[Symbol.dispose]()
    const words = new Int32Array(new SharedArrayBuffer(12))
    const source = new URL(`data:text/javascript,${encodeURIComponent(AT_FIRST_STEP)}`)
    const other = new Worker(source, { workerData: { words, path: join(directory, LOCK_FILE) } })
    t.after(() => other.terminate())
    assert.notEqual(Atomics.wait(words, 0, 0, START_MS_MAX), 'timed-out', 'the other thread begins')
    Atomics.store(words, 1, 1)
    Atomics.notify(words, 1)
    lockDirectory(directory)[Symbol.dispose]()
  })
})

function newDirectory(t: { after(done: () => void): void }): string {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-lock-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}
