import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, suite, test } from 'node:test'
import { RICH_LOG } from '../../../test/stage/audit-stage.ts'
import { run, serveBodies } from '../../../test/stage/command-stage.ts'
import { newKey, publicLog, type PublicLog } from '../../../test/story/public-log.ts'
import type { Entry } from '../../protocol/event.ts'
import { BOOK_TABLES } from './book-tables.ts'

const key = newKey()
const WHOLE = publicLog(RICH_LOG, key)
const SOME = publicLog(RICH_LOG.slice(0, 20), key)
const changedAt = (index: number): readonly Entry[] =>
  RICH_LOG.map((entry, at) => (at === index ? { ...entry, event: { ...entry.event, tx: 'another' } } : entry))

suite('pull into a file of SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-pull-book-'))
  /** The log that the service shows, and its id; each test sets them. */
  const shown: { log: Pick<PublicLog, 'body'>; id: string | undefined } = { log: WHOLE, id: 'a-log' }
  let service: Awaited<ReturnType<typeof serveBodies>>
  let files = 0
  /** Called while the service is asked for events. */
  let reading = (): void => undefined

  before(async () => {
    service = await serveBodies((asked) => {
      const path = asked.replace('/api/v1/', '')
      if (path.startsWith('events?')) reading()
      return path === 'status' ? JSON.stringify({ log: shown.id, simulated: false }) : shown.log.body(path)
    })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  /** Runs the command while the service shows a log. */
  async function pull(to: string, log: Pick<PublicLog, 'body'>, ...more: readonly string[]) {
    shown.log = log
    return run(['pull', service.url, '--to', to, ...more])
  }

  const newFile = (): string => join(folder, `${(files += 1)}.sqlite`)

  /** A file with the first 20 events, and its bytes. */
  async function started(): Promise<Readonly<{ to: string; bytes: Buffer }>> {
    const to = newFile()
    const { code, stderr } = await pull(to, SOME, '--key', key.vkey)
    assert.equal(code, 0, stderr)
    return { to, bytes: readFileSync(to) }
  }

  function contentOf(path: string): unknown {
    using db = new DatabaseSync(path, { readOnly: true })
    const tables = [
      ...BOOK_TABLES.map(({ name }) => name),
      'book',
      'payments',
      'counted',
      'unpaid',
      'corrections',
    ]
    return tables.map((name) => {
      const select = db.prepare(
        `SELECT * FROM ${name} ORDER BY 1, 2, 3`.replace(', 2, 3', name === 'book' ? '' : ', 2, 3'),
      )
      select.setReadBigInts(true)
      return [name, select.all()]
    })
  }

  test('continues where it stopped, with the content of one run, in one file', async () => {
    const { to } = await started()
    const { code, stderr } = await pull(to, WHOLE)
    assert.equal(code, 0, stderr)
    assert.match(
      stderr,
      new RegExp(`^${RICH_LOG.length - 20} events of seq 21 to ${RICH_LOG.length} added`, 'm'),
    )
    assert.match(stderr, /\(the key kept at an earlier visit\)$/m)
    const whole = newFile()
    assert.equal((await pull(whole, WHOLE, '--key', key.vkey)).code, 0)
    assert.deepEqual(contentOf(to), contentOf(whole))
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.endsWith('.sqlite')),
      [],
    )
    const bytes = readFileSync(to)
    assert.match((await pull(to, WHOLE)).stderr, /^nothing new: /m)
    assert.deepEqual(readFileSync(to), bytes)
  })

  test('does not change below a reader, and is one file again when nobody reads it', async () => {
    const { to } = await started()
    shown.log = WHOLE
    const counted: unknown[] = []
    using reader = new DatabaseSync(to, { readOnly: true })
    const count = (): void =>
      void counted.push(reader.prepare('SELECT count(*) AS size FROM events').get()?.['size'])
    reading = () => {
      if (!reader.isTransaction) reader.exec('BEGIN')
      count()
    }
    const { code, stderr } = await pull(to, WHOLE)
    reading = () => undefined
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^another program reads it: its newest rows stay in \S+-wal until then$/m)
    count()
    assert.deepEqual([...new Set(counted)], [20])
    reader.exec('COMMIT')
    count()
    assert.equal(counted.at(-1), RICH_LOG.length)
    reader.close()
    await pull(to, WHOLE)
    assert.equal(existsSync(`${to}-wal`), false)
  })

  test('takes no event that is not in the signed tree', async () => {
    const changed = publicLog(changedAt(30), key)
    const lying: Pick<PublicLog, 'body'> = {
      body: (path) => (path.startsWith('events') ? changed.body(path) : WHOLE.body(path)),
    }
    const { to } = await started()
    const content = contentOf(to)
    const { code, stderr } = await pull(to, lying)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^daybook: seq 1 to \d+: the events are not those of the signed tree; \S+ has nothing of it$/m,
    )
    assert.deepEqual(contentOf(to), content)
    const unmade = newFile()
    assert.equal((await pull(unmade, lying)).code, 1)
    assert.equal(existsSync(unmade), false)
  })

  for (const [name, log, id, message] of [
    [
      'another history of the log',
      publicLog(changedAt(10), key),
      'a-log',
      /FORK: the first 20 events differ/,
    ],
    [
      'a log that became shorter',
      publicLog(RICH_LOG.slice(0, 9), key),
      'a-log',
      /ROLLBACK: it covers 20 events, and the log now has 9/,
    ],
    [
      'another log',
      WHOLE,
      'b-log',
      /has 20 events of the log \S+ \(a-log\), and this service has another log/,
    ],
    [
      'a log with other keys',
      publicLog(RICH_LOG),
      'a-log',
      /the key that you trust is not among the keys of this log/,
    ],
  ] as const) {
    test(`of ${name} leaves the file as it is`, async () => {
      const { to, bytes } = await started()
      shown.id = id
      const { code, stderr } = await pull(to, log)
      shown.id = 'a-log'
      assert.equal(code, 1)
      assert.match(stderr, message)
      assert.deepEqual(readFileSync(to), bytes)
    })
  }

  test('into a file whose sums were changed leaves it as it is', async () => {
    for (const value of ['{', '{}']) {
      const { to } = await started()
      {
        using db = new DatabaseSync(to)
        db.prepare("UPDATE book_state SET value = ? WHERE name = 'tally'").run(value)
      }
      const bytes = readFileSync(to)
      const { code, stderr } = await pull(to, WHOLE)
      assert.equal(code, 1)
      assert.match(stderr, /^daybook: --to: \S+ is damaged: pull into a new file$/m)
      assert.deepEqual(readFileSync(to), bytes)
    }
  })

  test('from an address that is no Daybook makes no file', async () => {
    const to = newFile()
    shown.id = undefined
    const { code, stderr } = await pull(to, WHOLE)
    shown.id = 'a-log'
    assert.equal(code, 1)
    assert.match(stderr, /the address answers, but not as a Daybook does/)
    assert.ok(!existsSync(to))
  })

  test('of a log with a wrong signature makes no file', async () => {
    const forged: Pick<PublicLog, 'body'> = {
      body: (path) => (path === 'log/checkpoint' ? publicLog(RICH_LOG).body(path) : WHOLE.body(path)),
    }
    const to = newFile()
    const { code, stderr } = await pull(to, forged)
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: log\/checkpoint: /m)
    assert.equal(existsSync(to), false)
  })

  test('makes a file that proves itself, and shows any changed row', async () => {
    const { to } = await started()
    const verify = (): ReturnType<typeof run> => run(['verify', to, '--key', key.vkey])
    const right = await verify()
    assert.equal(right.code, 0, right.stdout)
    assert.match(right.stdout, /^ok {4}root {7}\S+ is the root over 20 events$/m)
    // Rows that follow from the events may have been changed.
    assert.match(
      right.stdout,
      /^- {5}tables {5}not checked: .*\nNot proved: .*\nright, and 1 not checked; /ms,
    )
    assert.equal((await run(['verify', to, '--key', newKey().vkey])).code, 1)
    for (const [change, found] of [
      [
        "UPDATE events SET tx = 'another' WHERE seq = 7",
        /root +the checkpoint: its root is not that of the rows/,
      ],
      [
        "UPDATE events SET at = '2026-01-01T00:00:00.000Z' WHERE seq = 7",
        /seq 7: a column of its row is not that of/,
      ],
      ['DELETE FROM events WHERE seq = 7', /seq 7: is missing/],
      ['DELETE FROM events WHERE seq = 20', /root +the checkpoint: its root is not that of the rows/],
    ] as const) {
      using db = new DatabaseSync(to)
      assert.throws(() => db.exec(change), /never change/)
      db.exec(`BEGIN; DROP TRIGGER events_update; DROP TRIGGER events_delete; ${change}; COMMIT`)
      const { code, stdout } = await verify()
      assert.equal(code, 1)
      assert.match(stdout, found)
      rmSync(to)
      await pull(to, SOME, '--key', key.vkey)
    }
  })

  test('shows a changed row below its checkpoint also when the last pull has not ended', async () => {
    const { to } = await started()
    {
      using db = new DatabaseSync(to)
      db.exec("CREATE TABLE kept AS SELECT * FROM book WHERE name = 'checkpoint'")
    }
    await pull(to, WHOLE)
    using db = new DatabaseSync(to)
    db.exec('INSERT OR REPLACE INTO book SELECT * FROM kept; DROP TRIGGER events_update')
    const verify = async () => (await run(['verify', to, '--key', key.vkey])).stdout
    assert.match(await verify(), /root +not checked: the last pull has not ended/)
    db.exec("UPDATE events SET tx = 'another' WHERE seq = 7")
    assert.match(await verify(), /root +the checkpoint: its root is not that of the rows/)
  })
})
