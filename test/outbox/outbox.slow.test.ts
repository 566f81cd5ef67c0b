import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { run } from '../stage/command-stage.ts'
import { openOutboxStage, type OutboxStage, until } from './outbox-stage.ts'
import { hasPostgres, startPostgresServer } from '../database/postgres-server.ts'
import { skipUnless } from '../processes/test-needs.ts'

const deposit = (kots: unknown, more: object = {}): object => ({
  type: 'treasury',
  kind: 'deposit',
  kots,
  ...more,
})

suite('an outbox in PostgreSQL', { skip: skipUnless(hasPostgres, 'postgresql') }, () => {
  let stage: OutboxStage
  before(async () => {
    stage = await openOutboxStage()
  })
  after(() => stage?.[Symbol.asyncDispose]())

  /** Empties the table, so that each test begins with its own rows. */
  const clear = (): Promise<unknown> => stage.sql(`TRUNCATE daybook_outbox`)
  const statuses = async (): Promise<readonly (string | null)[]> =>
    (await stage.rows()).map(({ status }) => status)

  test('is drained in order, and each row keeps its status, its seq and its log', async () => {
    const earlier = await stage.events()
    await stage.insert(deposit('1.000000001'), deposit('2'))
    await stage.insert(deposit('3', { ref: 'third' }))
    const { code, stdout, stderr } = await stage.drain()
    assert.deepEqual([code, stdout, stderr], [0, '3 published, 0 duplicates skipped, 0 held\n', ''])
    assert.deepEqual((await stage.events()).slice(earlier.length), [
      'deposit 1.000000001',
      'deposit 2.000000000',
      'deposit 3.000000000',
    ])
    const rows = await stage.rows()
    assert.deepEqual(
      rows.map(({ status, seq }) => [status, Number(seq)]),
      [1, 2, 3].map((place) => ['published', earlier.length + place]),
    )
    assert.ok(rows.every(({ drained_at, log }) => drained_at !== null && /^[0-9a-f]{32}$/.test(log ?? '')))
    assert.equal((await stage.drain()).stdout, '0 published, 0 duplicates skipped, 0 held\n')
  })

  test('sends the text of a draft as it was inserted', async () => {
    await clear()
    await stage.sql(`INSERT INTO daybook_outbox (draft) VALUES ('{
      "type": "treasury", "kind": "deposit",
      "kots": "100000000000000000.000000001" }')`)
    assert.equal((await stage.drain()).code, 0)
    assert.equal((await stage.events()).at(-1), 'deposit 100000000000000000.000000001')
    await stage.sql(
      `INSERT INTO daybook_outbox (draft) VALUES ('{"type":"treasury","kind":"deposit","kots":"1","kots":"2"}')`,
    )
    const { code, stderr } = await stage.drain()
    assert.equal(code, 1)
    assert.match(stderr, /^row [0-9a-f-]{36}, draft: .*(?:twice|repeat)/m)
  })

  test('stops at a refused row, sends those before it, and names it without its content', async () => {
    await clear()
    const earlier = await stage.events()
    await stage.insert(deposit('6'), deposit('7'))
    await stage.insert(deposit('8.0000000001', { ref: 'secret-ref' }))
    await stage.insert(deposit('9'))
    const { code, stdout, stderr } = await stage.drain()
    const [, , refused] = await stage.rows()
    assert.equal(code, 1)
    assert.equal(stdout, '2 published, 0 duplicates skipped, 0 held\n')
    assert.equal(
      stderr,
      `row ${refused?.id}, kots: has more than nine decimals\nthis row and the rows after it wait: see docs/outbox.md\n`,
    )
    assert.deepEqual((await stage.events()).slice(earlier.length), [
      'deposit 6.000000000',
      'deposit 7.000000000',
    ])
    await stage.sql(
      `UPDATE daybook_outbox SET drained_at = now(), status = 'skipped' WHERE id = '${refused?.id ?? ''}'`,
    )
    assert.equal((await stage.drain()).stdout, '1 published, 0 duplicates skipped, 0 held\n')
  })

  test('wakes its drainer at a commit, without waiting for the next look', async () => {
    await clear()
    const stop = new AbortController()
    const running = run(stage.words, { stop: stop.signal })
    const times: number[] = []
    for (let round = 0; round < 8; round++) {
      const startMs = performance.now()
      await stage.insert(deposit(`0.${round + 1}`))
      await until(async () => (await statuses()).at(-1) === 'published', 'the row is published')
      times.push(performance.now() - startMs)
    }
    stop.abort()
    const { code, stdout } = await running
    assert.deepEqual([code, stdout], [0, '8 published, 0 duplicates skipped, 0 held\n'])
    // Looks alone come each second, so half of the rows would wait half a second and more.
    const median = times.toSorted((a, b) => a - b)[4] ?? Infinity
    assert.ok(median < 500, `a row took ${median.toFixed(0)} ms`)
  })

  test('has one drainer at a time; another waits for its end', async () => {
    await clear()
    const [first, second] = [new AbortController(), new AbortController()]
    const one = run(stage.words, { stop: first.signal })
    await stage.insert(deposit('0.01'))
    await until(async () => (await statuses()).at(-1) === 'published', 'the first drains')
    const stderr = new PassThrough()
    let said = ''
    stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const two = run(stage.words, { stop: second.signal, stderr })
    await until(() => said.includes('another drainer has the outbox'), 'the second waits')
    first.abort()
    assert.equal((await one).stdout, '1 published, 0 duplicates skipped, 0 held\n')
    await stage.insert(deposit('0.02'))
    await until(async () => (await statuses()).at(-1) === 'published', 'the second drains')
    second.abort()
    assert.equal((await two).code, 0)
  })

  test('needs only the right to insert, and gives its other columns to nobody', async () => {
    await clear()
    await stage.sql(`CREATE ROLE platform`)
    await stage.sql(`GRANT INSERT (draft) ON daybook_outbox TO platform`)
    const as = (text: string): Promise<unknown> => stage.sql('SET ROLE platform', text)
    await as(`INSERT INTO daybook_outbox (draft) VALUES ('${JSON.stringify(deposit('0.05'))}')`)
    assert.deepEqual(
      (await stage.rows()).map(({ pos }) => pos === null),
      [false],
    )
    for (const statement of [
      `INSERT INTO daybook_outbox (draft, drained_at) VALUES ('{}', now())`,
      'SELECT draft FROM daybook_outbox',
      'UPDATE daybook_outbox SET pos = 1',
      'DELETE FROM daybook_outbox',
    ]) {
      await assert.rejects(as(statement), /permission denied/, statement)
    }
    await assert.rejects(stage.sql(`INSERT INTO daybook_outbox (draft) VALUES ('[]')`), /check constraint/)
  })

  test('takes rows under the longest names that --table accepts', async () => {
    const schema = 's'.repeat(40)
    const name = 'n'.repeat(22)
    const { code, stdout } = await run(['publish', '--sql', '--table', `${schema}.${name}`])
    assert.equal(code, 0)
    const psql = (text: string): string =>
      stage.server.run('psql', [stage.server.url(), '-qAt', '-v', 'ON_ERROR_STOP=1'], text)
    psql(`CREATE SCHEMA ${schema}; ${stdout}`)
    psql(`INSERT INTO ${schema}.${name} (draft) VALUES ('{}')`)
    psql(`DROP SCHEMA ${schema} CASCADE`)
    const refused = await run(['publish', '--sql', '--table', `${schema}.${name}n`])
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--table: schema, dot and name have 64 characters; give at most 63$/m)
  })

  test('makes a commit durable that its transaction would not have waited for', async () => {
    await clear()
    const [found] = await stage.sql(
      'BEGIN',
      'SET LOCAL synchronous_commit = off',
      `INSERT INTO daybook_outbox (draft) VALUES ('${JSON.stringify(deposit('0.06'))}')`,
      'SET CONSTRAINTS ALL IMMEDIATE',
      'SHOW synchronous_commit',
    )
    assert.equal(found?.['synchronous_commit'], 'on')
  })

  test('is not drained while a row has no position or the trigger is off', async () => {
    await clear()
    await stage.sql(`ALTER TABLE daybook_outbox DISABLE TRIGGER daybook_outbox_place`)
    await stage.insert(deposit('0.07'))
    const off = await stage.drain()
    assert.equal(off.code, 1)
    assert.match(off.stderr, /no enabled deferred trigger daybook_outbox_place; publish --sql --table public/)
    await stage.sql(`ALTER TABLE daybook_outbox ENABLE TRIGGER daybook_outbox_place`)
    await stage.insert(deposit('0.08'))
    const { code, stderr } = await stage.drain()
    assert.equal(code, 1)
    assert.match(stderr, /^daybook: row [0-9a-f-]{36} has no position: the trigger was missing or disabled/m)
    const missing = await stage.drain('--table', 'nothing_here')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /the table "public"\."nothing_here" does not exist; publish --sql/)
    await clear()
  })

  test('is not sent to another log than the one that took its newest row', async () => {
    await clear()
    await stage.insert(deposit('0.09'))
    await stage.drain()
    const [row] = await stage.rows()
    await stage.sql(`UPDATE daybook_outbox SET log = 'former-log'`)
    // A row that no log took says nothing about the log, although it is marked later.
    await stage.insert(deposit('0.091'))
    await stage.sql(
      `UPDATE daybook_outbox SET drained_at = now(), status = 'skipped' WHERE drained_at IS NULL`,
    )
    await stage.insert(deposit('0.10'))
    const refused = await stage.drain()
    assert.equal(refused.code, 1)
    const statement = `UPDATE "public"."daybook_outbox" SET drained_at = NULL WHERE log <> '${row?.log}'`
    assert.ok(refused.stderr.includes(`send that log every row with: ${statement}\n`), refused.stderr)
    await stage.sql(statement)
    assert.equal((await stage.drain()).stdout, '1 published, 1 duplicate skipped, 0 held\n')
    assert.deepEqual(await statuses(), ['duplicate', 'skipped', 'published'])
  })

  test('is drained at the primary, also when a server that is away and a standby are named before it', async () => {
    await clear()
    const folder = join(stage.folder, 'standby')
    mkdirSync(folder)
    await using standby = await startPostgresServer(folder, { standbyOf: stage.server.url() })
    await stage.insert(deposit('0.11'))
    const away = join(stage.folder, 'away')
    const hosts = [away, standby.host, stage.server.host].map(encodeURIComponent).join(',')
    const from = `postgres://daybook@/postgres?sslmode=disable&host=${hosts}`
    const { code, stdout, stderr } = await stage.drain('--from', from)
    assert.deepEqual([code, stdout, stderr], [0, '1 published, 0 duplicates skipped, 0 held\n', ''])
  })

  test('is refused on a standby, which cannot keep its marks', async () => {
    const signal = join(stage.server.host, 'data', 'standby.signal')
    await stage.server.end('SIGINT')
    writeFileSync(signal, '')
    await stage.server.start()
    const { code, stderr } = await stage.drain()
    await stage.server.end('SIGINT')
    rmSync(signal)
    await stage.server.start()
    assert.equal(code, 1)
    assert.match(stderr, /\/postgres is a standby: give --from the address of the primary$/m)
  })

  test('says which connection fails, and repeats neither the address nor the password', async () => {
    const drain = (from: string, ...more: readonly string[]): ReturnType<typeof run> =>
      run([
        'publish',
        '--from',
        from,
        '--to',
        stage.service.publishUrl,
        '--token-file',
        stage.tokenFile,
        ...more,
      ])
    const nobody = await drain(
      `postgres://nobody:pass%20word@/postgres?host=${encodeURIComponent(stage.server.host)}`,
    )
    assert.equal(nobody.code, 1)
    assert.match(nobody.stderr, /\/postgres: role "nobody" does not exist \(28000\)$/m)
    assert.doesNotMatch(nobody.stderr, /pass/)
    for (const from of [
      'mysql://a:secret@b/c',
      'postgres://a:sec/ret@b/c',
      'postgres://b/c?secret=1&x=secret',
    ]) {
      const { code, stderr } = await drain(from)
      assert.equal(code, 2, from)
      assert.doesNotMatch(stderr, /sec\/ret|a:secret|=secret/)
    }
    const path = join(stage.folder, 'no-such-file')
    assert.equal((await drain('postgres://b/c', '--password-file', path)).code, 2)
    writeFileSync(join(stage.folder, 'drafts.jsonl'), '')
    assert.equal(
      (await run(['publish', join(stage.folder, 'drafts.jsonl'), ...stage.words.slice(1)])).code,
      2,
    )
  })
})
