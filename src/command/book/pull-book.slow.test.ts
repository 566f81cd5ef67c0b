import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { skipUnless } from '../../../test/processes/test-needs.ts'
import { run, type RunResult, start, startProxy } from '../../../test/stage/command-stage.ts'
import { type Service, startService } from '../../../test/stage/service.ts'
import { bulkLines } from '../../../sim/bulk.ts'
import { writeDrafts } from '../../../sim/draft-file.ts'
import { msOf } from '../../protocol/moment.ts'
import { createStore } from '../../log/store/store.ts'
import { BOOK_TABLES } from './book-tables.ts'

/** Three commits of a pull, and an open month that is read in pages. */
const EVENTS = 200_000
const COMMIT_EVENTS = 65_536
const WAIT_MS_MAX = 60_000

/** Mounts a disk on which no book of the log fits. Returns false when this machine does not allow that. */
function mountDisk(folder: string): boolean {
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

suite('a book', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-pull-book-'))
  const at = (name: string): string => join(folder, name)
  const whole = at('whole.sqlite')
  let service: Service

  before(async () => {
    const drafts = at('drafts.jsonl')
    const span = { from: msOf(Date.UTC(2026, 3, 20)), to: msOf(Date.UTC(2026, 7, 3)) }
    await writeDrafts(createWriteStream(drafts), bulkLines({ seed: 'book', ...span, count: EVENTS }))
    service = await startService({ drafts })
    const { code, stderr } = await pull(whole)
    assert.equal(code, 0, stderr)
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  function pull(to: string, url: string = service.url): Promise<RunResult> {
    return run(['pull', url, '--to', to])
  }

  function sizeOf(path: string): number {
    using db = new DatabaseSync(path, { readOnly: true })
    return Number(db.prepare('SELECT count(*) AS size FROM events').get()?.['size'])
  }

  /** All rows of a table that follows from the events. */
  function rowsOf(path: string, table: string): unknown {
    using db = new DatabaseSync(path, { readOnly: true })
    return db.prepare(`SELECT * FROM ${table}`).all()
  }

  const FOLLOWING = BOOK_TABLES.map(({ name }) => name).filter(
    (name) => name !== 'events' && name !== 'details',
  )

  test('goes on after a kill at any place, and is a whole prefix of the log meanwhile', async () => {
    const to = at('killed.sqlite')
    const sizes = new Set<number>()
    for (const killAt of [0, 1, COMMIT_EVENTS, 2 * COMMIT_EVENTS]) {
      const own = start(['pull', service.url, '--to', to])
      const endMs = Date.now() + WAIT_MS_MAX
      const reached = (): boolean => existsSync(to) && (killAt === 0 || committed(to) >= killAt)
      while (!reached() && own.child.exitCode === null && Date.now() < endMs) await sleep(20)
      own.child.kill('SIGKILL')
      const { stderr } = await own.ended()
      assert.equal(stderr, '')
      const size = committed(to)
      sizes.add(size)
      assert.equal(size % COMMIT_EVENTS, 0)
    }
    assert.ok(sizes.has(COMMIT_EVENTS) && sizes.has(2 * COMMIT_EVENTS), [...sizes].join())
    // An unfinished book says so.
    const unfinished = await run(['verify', to])
    assert.equal(unfinished.code, 1)
    const { code, stderr } = await pull(to)
    assert.equal(code, 0, stderr)
    assert.equal((await run(['verify', to])).code, 0)
    for (const table of FOLLOWING) assert.deepEqual(rowsOf(to, table), rowsOf(whole, table), table)
    assert.equal(existsSync(`${to}-wal`), false)
  })

  /** Events that another program sees; 0 before the first commit. */
  function committed(path: string): number {
    try {
      return sizeOf(path)
    } catch {
      return 0
    }
  }

  test('is written by one run at a time', async () => {
    const to = at('shared.sqlite')
    const held = Promise.withResolvers<void>()
    await using proxy = await startProxy(service.url, (path) => {
      if (!path.includes('2026-05.jsonl.gz')) return 'none'
      held.resolve()
      return 'hold'
    })
    const stop = new AbortController()
    const first = run(['pull', proxy.url, '--to', to], { stop: stop.signal })
    await held.promise
    const second = await pull(to)
    assert.equal(second.code, 1)
    assert.match(
      second.stderr,
      /^daybook: \S+ is in use by another program, such as a second pull: let it end first$/m,
    )
    stop.abort()
    assert.match((await first).stderr, /stopped; repeat the command to continue/)
    assert.equal((await pull(to)).code, 0)
  })

  test('continues after a broken download', async () => {
    let cuts = 0
    const cut = { cutAfter: 100_000, once: () => (cuts += 1) > 0 }
    await using proxy = await startProxy(service.url, (path, count) =>
      path.endsWith('.jsonl.gz') && count === 1 ? cut : 'none',
    )
    const { code, stderr } = await run(['pull', proxy.url, '--to', at('cut.sqlite')], { random: () => 0 })
    assert.equal(code, 0, stderr)
    assert.ok(cuts > 2)
  })

  suite('is refused in one line, and nothing changes', () => {
    const files = {
      'text.sqlite': () =>
        writeFileSync(at('text.sqlite'), 'no database, but a text of some length\n'.repeat(40)),
      'store.db': () => createStore(at('store.db'), { origin: 'a.test', chain: 'solana', simulated: true }),
      'other.db': () => new DatabaseSync(at('other.db')).exec('CREATE TABLE t (a); INSERT INTO t VALUES (1)'),
      'newer.sqlite'() {
        writeFileSync(at('newer.sqlite'), readFileSync(whole))
        using db = new DatabaseSync(at('newer.sqlite'))
        db.exec('PRAGMA user_version = 1000')
      },
    }
    for (const [name, message] of [
      ['text.sqlite', /is no SQLite file, and stays as it is; give the name of a new file$/m],
      ['store.db', /is a database of something else, and stays as it is; give the name of a new file$/m],
      ['other.db', /is a database of something else/],
      ['newer.sqlite', /has form 1000 of a book, and this program knows form \d+: install a newer one$/m],
    ] as const) {
      test(`when it is ${name}`, async () => {
        files[name]()
        const bytes = readFileSync(at(name))
        const { code, stderr } = await pull(at(name))
        assert.equal(code, 2)
        assert.match(stderr, message)
        assert.match(stderr, /^daybook: [^\n]+\n$/)
        assert.deepEqual(readFileSync(at(name)), bytes)
      })
    }

    test('when it is a folder, has months, or lies in no folder', async () => {
      mkdirSync(at('folder.sqlite'))
      for (const [words, message] of [
        [['--to', at('folder.sqlite')], /--to: \S+ is a folder; a file is needed$/m],
        [
          ['2026-05', '--to', at('new.sqlite')],
          /a file \.sqlite or \.db has the whole log: leave the months out$/m,
        ],
        [['--to', at(join('none', 'new.sqlite'))], /--to: there is no folder/],
        [['--to', at('new'), '--key', 'x'], /--key is for a file \.sqlite or \.db: verify checks a folder$/m],
        [['--to', at('new.sqlite'), '--key', 'x'], /--key is not a verifier key/],
      ] as const) {
        const { code, stderr } = await run(['pull', service.url, ...words])
        assert.equal(code, 2)
        assert.match(stderr, message)
      }
      assert.equal(existsSync(at('new')) || existsSync(at('new.sqlite')), false)
    })

    const disk = at('disk')
    const works = mountDisk(disk)
    const needed = 'root who may mount a disk in memory'
    after(() => void (works && execFileSync('umount', [disk])))

    test(
      'when the disk is full: with room, the next run continues',
      { skip: skipUnless(works, needed) },
      async () => {
        const to = join(disk, 'book.sqlite')
        const { code, stderr } = await pull(to)
        assert.equal(code, 1)
        assert.match(stderr, /the disk is full: make room and repeat the command, which continues$/m)
        execFileSync('mount', ['-o', 'remount,size=200m', disk])
        assert.equal((await pull(to)).code, 0)
        assert.equal((await run(['verify', to])).code, 0)
      },
    )
  })
})
