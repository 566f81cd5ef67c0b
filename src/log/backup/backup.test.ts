import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { billionths } from '../../protocol/amount.ts'
import { msOf } from '../../protocol/moment.ts'
import { type Appender, openAppender } from '../append.ts'
import { backupStore } from './backup.ts'
import { LockedError } from '../store/lock.ts'
import { createStore, openForWriting, storePath } from '../store/store.ts'
import { runCheck } from '../../../test/story/damaged-log.ts'
import { skipUnless } from '../../../test/processes/test-needs.ts'
import { testSigner } from '../../../test/story/signing.ts'

/** Enough events for several steps of a copy. */
const EVENTS = 30_000
const START_MS = Date.UTC(2026, 9, 1)
/** Most steps of one copy. More would mean that SQLite has restarted it. */
const STEPS_MAX = 50

function publish(appender: Appender, count: number): void {
  const { seq } = appender.head()
  appender.begin()
  for (let number = seq + 1; number <= seq + count; number++) {
    appender.append(
      {
        ref: null,
        atMs: null,
        type: 'trade',
        kind: 'buy',
        contestId: null,
        tx: null,
        kots: billionths(BigInt(number)),
        details: null,
      },
      null,
      msOf(START_MS + number),
    )
  }
  appender.write()
  appender.commit()
}

suite('a backup', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-backup-'))
  test.after(() => rmSync(folder, { recursive: true }))
  const data = join(folder, 'data')
  const store = storePath(data)
  const copies = (): readonly string[] => readdirSync(folder).filter((name) => name.includes('copy'))

  test.before(() => {
    createStore(store, { origin: 'daybook.test/backup', chain: 'opaque', simulated: false })
    const db = openForWriting(store)
    publish(openAppender(db, testSigner(db)), EVENTS)
    db.close()
  })

  test('ends while events are published all the time, copies each page once, and is complete', async () => {
    const other = join(folder, 'other')
    mkdirSync(other)
    const db = openForWriting(store)
    const appender = openAppender(db, testSigner(db))
    const bytes = statSync(store).size
    const lefts: number[] = []
    const { events } = await backupStore(store, storePath(other), (left) => {
      assert.ok(lefts.push(left) <= STEPS_MAX, `after ${STEPS_MAX} steps ${left} pages are left`)
      publish(appender, 100)
    })
    db.close()
    assert.ok(lefts.length > 2, 'events were published between steps')
    assert.deepEqual(
      lefts,
      lefts.toSorted((a, b) => b - a),
      'the copy is never restarted',
    )
    assert.equal(events, EVENTS, 'it is of the moment at which it began')
    assert.equal(statSync(storePath(other)).size, bytes)
    assert.equal(statSync(storePath(other)).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(other), ['daybook.db'])
    const { code, said } = await runCheck(other)
    assert.equal(code, 0, said)
  })

  test('leaves no file under its name when it is killed, and does not prevent the next', async () => {
    const to = join(folder, 'copy.db')
    const module = JSON.stringify(import.meta.resolve('./backup.ts'))
    const paths = [store, to].map((path) => JSON.stringify(path)).join(', ')
    const script = `const { backupStore } = await import(${module})
      await backupStore(${paths}, () => process.kill(process.pid, 'SIGKILL'))`
    const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    assert.equal(killed.signal, 'SIGKILL', killed.stderr)
    assert.ok(!existsSync(to))
    assert.ok(copies().includes('copy.db.partial'))
    await backupStore(store, to, () => undefined)
    assert.deepEqual(copies(), ['copy.db'])
    rmSync(to)
  })

  test('is refused while another writes the same file, and leaves that alone', async () => {
    const to = join(folder, 'copy.db')
    const others: Promise<unknown>[] = []
    await backupStore(store, to, () => {
      if (others.length > 0) return
      others.push(backupStore(store, to, () => undefined).catch((error: unknown) => error))
    })
    const [refusal] = await Promise.all(others)
    assert.ok(refusal instanceof LockedError, String(refusal))
    assert.deepEqual(copies(), ['copy.db'])
    rmSync(to)
  })

  test(
    'leaves no file open',
    { skip: skipUnless(existsSync('/proc/self/fd'), 'a list of open files') },
    async () => {
      const to = join(folder, 'copy.db')
      await backupStore(store, to, () => undefined)
      const open = readdirSync('/proc/self/fd').map((file) => {
        const path = join('/proc/self/fd', file)
        return existsSync(path) ? readlinkSync(path) : ''
      })
      assert.deepEqual(
        open.filter((path) => path.startsWith(folder)),
        [],
      )
      rmSync(to)
    },
  )

  test('of a store with a damaged page fails, and leaves no file', async () => {
    const damaged = join(folder, 'damaged.db')
    createStore(damaged, { origin: 'daybook.test/damaged', chain: 'opaque', simulated: false })
    const db = openForWriting(damaged)
    const page = Number(
      db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'refs'").get()?.['rootpage'],
    )
    const bytes = Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
    db.close()
    const file = readFileSync(damaged)
    file.fill(0xff, (page - 1) * bytes, page * bytes)
    writeFileSync(damaged, file)
    await assert.rejects(
      backupStore(damaged, join(folder, 'copy.db'), () => undefined),
      /the copy is damaged: /,
    )
    assert.deepEqual(copies(), [])
  })

  test('leaves no file when it fails', async () => {
    const fails = backupStore(store, join(folder, 'copy.db'), () => {
      throw new Error('no more')
    })
    await assert.rejects(fails, /no more/)
    assert.deepEqual(copies(), [])
  })
})
