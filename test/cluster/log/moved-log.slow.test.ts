import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { mkdirSync, renameSync, rmSync, rmdirSync } from 'node:fs'
import { test } from 'node:test'
import { lockOf } from '../../../src/cluster/table/look-at-table.ts'
import { openForReading, readIdentity, storePath } from '../../../src/log/store/store.ts'
import { until } from '../../processes/other-program.ts'
import { run } from '../../stage/command-stage.ts'
import { postDrafts } from '../../stage/manual-node.ts'
import { OTHER_KEY, TEST_KEY } from '../../story/signing.ts'
import {
  type StageNode,
  type StageTable,
  answersOf,
  isReady,
  publishAt,
  someDeposit,
  suiteOnTable,
  untilHead,
  untilLeads,
} from './table-stage.ts'
import { join } from 'node:path'
import { moveRows, moveToTable } from '../../../src/cluster/log/move-log.ts'
import type { TableRow } from '../../../src/cluster/table/log-table.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import { tableOptions } from '../table/postgres-table-rig.ts'

/** Longer than PostgreSQL keeps a silent session of a node, in milliseconds. */
const SILENT_MS = 6_500

const PATHS =
  `summary events?limit=1000 events/2 events/2/details archive log/tile/0/000.p/3 log/tile/entries/000.p/3
  log/keys log/checkpoint log/proof/2`.split(/\s+/)

suiteOnTable('a log that is moved onto a table', (stage) => {
  const move = (name: string, table: StageTable, ...more: readonly string[]): ReturnType<typeof run> =>
    stage.cluster('move', '--data', stage.pathOf(name), ...table.words, ...more)

  const stopped = (node: StageNode, why: RegExp): Promise<void> =>
    until(`it stops: ${why}`, async () => /"fact":"log-stopped"/.test(node.said()) && why.test(node.said()))

  test('answers with the same bytes as before, and so does a node that joins it', async () => {
    stage.makeLog('same')
    const alone = await stage.start('same', null)
    const drafts = ['one', 'two', 'three'].map(someDeposit)
    assert.equal((await postDrafts(alone.service, drafts)).status, 200)
    const answers = await answersOf(alone.url, PATHS)
    await alone[Symbol.asyncDispose]()
    const table = await stage.newTable()
    const moved = await move('same', table)
    assert.equal(moved.stdout.split(':')[0], 'the log is on the table up to seq 3, in 2 rows', moved.stderr)
    const [first, second] = [await stage.start('same', table), await stage.start('joined', table)]
    await untilHead(second, 3)
    for (const node of [first, second]) assert.deepEqual(await answersOf(node.url, PATHS), answers)

    const busy = await move('same', table, '--back')
    assert.match(busy.stderr, /another process uses this data directory/)
    await second[Symbol.asyncDispose]()
    const led = await move('joined', table, '--back')
    assert.equal(led.code, 2, 'the key of the log is not beside the other directory')
  })

  test('is refused for a table that has rows, a table that is missing, and a log of other keys', async () => {
    const table = await stage.movedLog('filled', 1)
    const bytes = await table.rows()
    stage.makeLog('other')
    const filled = await move('other', table)
    assert.equal(filled.code, 1)
    assert.match(
      filled.stderr,
      /the table public\.daybook_log is not empty: a log is moved onto an empty table/,
    )
    assert.deepEqual(await table.rows(), bytes)
    await table.sql('DROP TABLE daybook_log')
    assert.match((await move('other', table)).stderr, /there is no table public\.daybook_log: .*cluster init/)
    const fresh = await stage.newTable()
    const foreign = stage.keyFile('foreign.key', OTHER_KEY)
    const refused = await move('filled', fresh, '--signing-key-file', foreign)
    assert.equal(refused.code, 1)
    // Nothing was noted in either directory.
    await using alone = await stage.start('other', null)
    assert.equal(await publishAt(alone, 'one'), 1)
  })

  test('is refused while a node of it leads, and alone after it was moved', async () => {
    const table = await stage.movedLog('led', 1)
    await assert.rejects(
      stage.start('led', null),
      /a table of PostgreSQL carries this log: .*cluster move --back/,
    )
    await table.sql('TRUNCATE daybook_log')
    using db = openForReading(storePath(stage.pathOf('led')))
    const lock = lockOf(readIdentity(db).id)
    const holding = table.sql(`SELECT pg_advisory_lock(${lock}), pg_sleep(1)`)
    await until('the lock is taken', async () => {
      return (await table.sql("SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted")).length > 0
    })
    const refused = await move('led', table)
    assert.match(refused.stderr, /a node of this log leads: end it first/)
    await holding
    assert.equal((await move('led', table)).code, 0)
  })

  test('leaves the table with its last row: the others stop with words, and the node goes on alone', async () => {
    const table = await stage.movedLog('leaving', 2)
    const other = await stage.start('staying', table)
    await untilHead(other, 2)
    await untilLeads(other)
    stage.keyFile('staying.key', OTHER_KEY)
    const refused = await move('leaving', table, '--back')
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /this node does not come to lead: another node leads; stop all others first/)
    await other[Symbol.asyncDispose]()
    const left = await move('leaving', table, '--back')
    assert.equal(left.code, 0, left.stderr)
    assert.match(left.stdout, /^the log is off the table at seq 2: serve it without --log-store/)
    const late = await stage.start('staying', table)
    await stopped(late, /the log was taken off its table with daybook cluster move --back/)
    assert.equal(await isReady(late.publishUrl), false)
    assert.equal((await postDrafts(late.service, [someDeposit('late')])).status, 503)
    await late[Symbol.asyncDispose]()
    const key = ['--signing-key-file', stage.pathOf('leaving.key')]
    const ended = await move('staying', table, '--back', ...key)
    assert.match(ended.stderr, /another node has taken the log off the table: serve it from that one/)
    await assert.rejects(stage.start('staying', null), /a table of PostgreSQL carries this log/)
    await using alone = await stage.start('leaving', null)
    assert.equal(await publishAt(alone, 'alone'), 3)
    await alone[Symbol.asyncDispose]()
    assert.match((await move('leaving', table, '--back')).stderr, /no table carries this log/)

    // It can come back, onto an empty table, and the other directory begins anew.
    assert.match((await move('leaving', table)).stderr, /is not empty/)
    await table.sql('TRUNCATE daybook_log')
    assert.equal((await move('leaving', table)).code, 0)
    rmSync(stage.pathOf('staying'), { recursive: true })
    await using joined = await stage.start('staying', table)
    await untilHead(joined, 3)
  })

  test('is put on the table of another database when the operator gives the former one up, and not on one that lost rows', async () => {
    const table = await stage.movedLog('lost', 2)
    const node = await stage.start('lost', table)
    assert.equal(await publishAt(node, 'three'), 3)
    await node[Symbol.asyncDispose]()
    await table.put((await table.rows()).slice(0, -1))
    const short = await move('lost', table)
    assert.equal(short.code, 1)
    assert.match(
      short.stderr,
      /the table ends at place 2, and this store at place 3: start this node, and it puts the/,
    )
    const other = await stage.newTable()
    const elsewhere = await move('lost', other)
    assert.equal(elsewhere.code, 1)
    assert.match(elsewhere.stderr, /this log has gone on in another table: give the address of that one/)
    assert.equal((await other.rows()).length, 0)
    const given = ['--accept-loss', '--data', stage.pathOf('lost'), ...other.words]
    const moved = await stage.cluster('move', ...given)
    assert.equal(moved.code, 0, moved.stderr)
    assert.match(moved.stdout, /^the log is on the table up to seq 3, in 2 rows:/)
    const again = await stage.start('lost', other)
    assert.equal(await publishAt(again, 'four'), 4)
    assert.equal(await publishAt(again, 'three'), 3, 'its ref is known')
    const joined = await stage.start('lost-joined', other)
    await untilHead(joined, 4)
    const used = await stage.cluster('check', '--data', stage.pathOf('lost'), ...other.words)
    assert.match(used.stderr, /another process uses this data directory/)
    assert.equal((await stage.cluster('check', ...other.words)).code, 0)
  })

  test('is moved again onto fewer rows, also after a move that ended in the middle of its note', async () => {
    const table = await stage.movedLog('again', 0)
    const data = stage.pathOf('again')
    const node = await stage.start('again', table)
    await untilLeads(node)
    for (const ref of ['one', 'two', 'three']) await publishAt(node, ref)
    await node[Symbol.asyncDispose]()
    await table.sql('TRUNCATE daybook_log')

    const mark = join(data, 'high-water')
    const moving = moveToTable({
      dataDirectory: data,
      keys: [TEST_KEY],
      table: table.settings,
      acceptLoss: true,
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      signal: new AbortController().signal,
      // The disk of the mark fails from here on.
      onProgress(place) {
        if (place > 1) return
        renameSync(mark, `${mark}.away`)
        mkdirSync(mark)
      },
    })
    await assert.rejects(moving, /EISDIR/)
    rmdirSync(mark)
    renameSync(`${mark}.away`, mark)
    assert.equal((await table.rows()).length, 0)

    const moved = await stage.cluster('move', '--accept-loss', '--data', data, ...table.words)
    assert.equal(moved.code, 0, moved.stderr)
    assert.match(moved.stdout, /up to seq 3, in 2 rows/)
    const again = await stage.start('again', table)
    assert.equal(await publishAt(again, 'four'), 4)
  })

  test('is not moved when the operator stops the move, which does not blame the database', async () => {
    const table = await stage.newTable()
    stage.makeLog('stopping')
    const moving = moveToTable({
      dataDirectory: stage.pathOf('stopping'),
      keys: [TEST_KEY],
      table: table.settings,
      acceptLoss: true,
      nowMs: Date.now,
      monotonicMs: () => performance.now(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      signal: AbortSignal.abort(),
      onProgress: () => undefined,
    })
    await assert.rejects(moving, { name: 'StoreError', message: 'stopped' })
    await using alone = await stage.start('stopping', null)
    assert.equal(await publishAt(alone, 'one'), 1)
  })

  test('with rows that no standby confirms is not said to have other rows', async () => {
    const table = await stage.movedLog('unsure', 1)
    const { settings, words } = table
    assert.ok(settings.isSingle)
    const strict = words.filter((word) => word !== '--single-database')
    const moved = await stage.cluster('move', '--data', stage.pathOf('unsure'), ...strict)
    assert.equal(moved.code, 1)
    assert.match(moved.stderr, /no synchronous standby confirms the row at place 2/)
  })

  test('may be so large that its first rows are long in coming', async () => {
    const table = await stage.newTable()
    function* rows(): Generator<TableRow, void> {
      yield { place: 1, bytes: Buffer.from('one') }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SILENT_MS)
      yield { place: 2, bytes: Buffer.from('two') }
    }
    const options = tableOptions({ isSingle: true })
    await moveRows(parseDatabaseUrl(table.url, null), rows(), options, () => undefined)
    assert.equal((await table.rows()).length, 2)
  })
})
