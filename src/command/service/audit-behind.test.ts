import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { change, makeLog, openFolder, publishUpTo } from '../../../test/story/damaged-log.ts'
import { CARRIED } from '../../log/store/identity-rows.ts'
import { isPassingFault } from '../../log/store/sqlite-error.ts'
import { createStore, storePath } from '../../log/store/store.ts'
import { startAudits } from './background-audit.ts'

/** Result of the first audit of a store that ends before its high-water mark. */
async function auditBehind(isCarried: boolean): Promise<string> {
  using folder = openFolder()
  const { data } = folder
  makeLog(data, [1])
  const old = join(data, 'old')
  copyFileSync(storePath(data), old)
  publishUpTo(data, [2])
  renameSync(old, storePath(data))
  if (isCarried) change(data, (db) => db.prepare('INSERT INTO meta VALUES (?, ?)').run(CARRIED.place, '1'))
  const { promise, resolve } = Promise.withResolvers<string>()
  const listener = { audited: ({ done }: { done: boolean }) => (done ? resolve('right') : undefined) }
  await using _audits = startAudits(data, { pauseMs: 1, repeatMs: 1_000 }, [listener], resolve)
  return await promise
}

suite('the audit of a log that ends before its high-water mark', () => {
  test('finds a fault, unless a table carries the log, which has the rest', async () => {
    assert.match(await auditBehind(false), /the log ends at seq 1 but was published up to seq 2/)
    assert.equal(await auditBehind(true), 'right')
  })
})

suite('an audit that meets a fault of the machine', () => {
  test('is reported, and made again, when the store cannot be opened for a moment', async () => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-audit-'))
    const server = createServer()
    const [store, aside] = [storePath(data), join(data, 'aside')]
    try {
      createStore(store, { origin: 'daybook.test/audit', chain: 'opaque', simulated: false })
      // The system opens no socket as a file. SQLite says the same when it lacks a free file descriptor.
      const socket = join(data, 'socket')
      await once(server.listen(socket), 'listening')
      renameSync(store, aside)
      renameSync(socket, store)
      const reasons: string[] = []
      const failed = (reason: string): void => {
        reasons.push(reason)
        if (reasons.length > 1) return
        renameSync(aside, store)
      }
      const { promise, resolve } = Promise.withResolvers<string>()
      const listener = {
        audited: ({ done }: { done: boolean }) => (done ? resolve('right') : undefined),
        failed,
      }
      await using _audits = startAudits(
        data,
        { pauseMs: 1, repeatMs: 1_000, retryMs: 1 },
        [listener],
        resolve,
      )
      assert.equal(await promise, 'right')
      assert.deepEqual(reasons, ['unable to open database file'])
    } finally {
      server.close()
      rmSync(data, { recursive: true })
    }
  })

  test('ends the service when the store is gone', async () => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-audit-'))
    const { promise, resolve } = Promise.withResolvers<string>()
    await using _audits = startAudits(data, { pauseMs: 1, repeatMs: 1_000 }, [], resolve)
    assert.match(await promise, /daybook\.db is gone$/)
    rmSync(data, { recursive: true })
  })

  const faults: readonly (readonly [name: string, code: string | number, passes: boolean])[] = [
    ['too many open files', 'EMFILE', true],
    ['too many open files of the system', 'ENFILE', true],
    ['too little memory', 'ENOMEM', true],
    ['a failing disk', 'EIO', false],
    ['a missing file', 'ENOENT', false],
    ['SQLITE_BUSY', 5, true],
    ['SQLITE_NOMEM', 7, true],
    ['SQLITE_PROTOCOL', 15, true],
    ['SQLITE_BUSY_RECOVERY', 261, true],
    ['SQLITE_IOERR_NOMEM', 3_082, true],
    ['SQLITE_IOERR_SHMMAP', 5_386, true],
    ['SQLITE_IOERR_READ', 266, false],
    ['SQLITE_ERROR', 1, false],
    ['SQLITE_CORRUPT', 11, false],
    ['SQLITE_NOTADB', 26, false],
  ]
  for (const [name, code, passes] of faults) {
    test(`${passes ? 'waits until it passes' : 'takes it for a fault of the log'}: ${name}`, () => {
      const fields = typeof code === 'number' ? { code: 'ERR_SQLITE_ERROR', errcode: code } : { code }
      assert.equal(isPassingFault(Object.assign(new Error(name), fields)), passes)
    })
  }
})
