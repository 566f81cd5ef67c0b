import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { before, test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { ROW_BYTES_MAX, type TableRow } from '../../../src/cluster/table/log-table.ts'
import { storePath } from '../../../src/log/store/store.ts'
import { type StageTable, publishAt, suiteOnTable, untilHead } from './table-stage.ts'
import { openLogTable } from '../../../src/cluster/table/open-table.ts'
import { parseDatabaseUrl } from '../../../src/command/database/database-url.ts'
import { tableOptions } from '../table/postgres-table-rig.ts'

const HUGE_ROW_BYTES = 48 * 1024 * 1024

suiteOnTable('cluster check', (stage) => {
  let table: StageTable
  let rows: readonly TableRow[]
  before(async () => {
    table = await stage.movedLog('first', 2)
    const node = await stage.start('first', table)
    for (const ref of ['three', 'four', 'five']) await publishAt(node, ref)
    await node[Symbol.asyncDispose]()
    rows = await table.rows()
    assert.equal(rows.length, 5)
  })

  type Checked = Readonly<{ code: number; stdout: string; stderr: string }>
  const check = (...more: readonly string[]): Promise<Checked> =>
    stage.cluster('check', ...table.words, ...more)

  /** Checks a table that has these rows, and puts the right ones back. */
  async function checkWith(wrong: readonly TableRow[], ...more: readonly string[]): Promise<Checked> {
    await table.put(wrong)
    const checked = await check(...more)
    await table.put(rows)
    return checked
  }

  const without = (place: number): readonly TableRow[] => rows.filter((row) => row.place !== place)
  const changed = (place: number, change: (bytes: Uint8Array) => Uint8Array): readonly TableRow[] =>
    rows.map((row) => (row.place === place ? { place, bytes: change(row.bytes) } : row))
  const dataOf = (name: string): readonly string[] => ['--data', stage.pathOf(name)]

  test('says how many rows follow each other, which keys sign, and that a directory agrees', async () => {
    const { code, stdout, stderr } = await check()
    assert.equal(code, 0, stderr)
    assert.match(
      stdout,
      /^5 rows follow each other up to seq 5 of log [0-9a-f]{32}\nsigned with daybook\.test\/table\+\S+\n$/,
    )
    const compared = await check(...dataOf('first'))
    assert.equal(compared.code, 0, compared.stderr)
    assert.match(compared.stdout, /, and the store agrees with them\n/)
  })

  const FAULTS: readonly (readonly [what: string, wrong: () => readonly TableRow[], said: RegExp])[] = [
    ['no row', () => [], /^the table has no row$/m],
    ['a hole', () => without(3), /has row 4, but no row 3/],
    [
      'a row with a changed byte',
      () =>
        changed(3, (bytes) => bytes.map((byte, index) => (index === bytes.length >> 1 ? byte ^ 1 : byte))),
      /^place 3: /m,
    ],
    ['a row that is cut', () => changed(4, (bytes) => bytes.subarray(0, -1)), /^place 4: /m],
    [
      'a row twice',
      () => changed(4, () => rows[2]?.bytes ?? assert.fail()),
      /^place 4: it was made for place 3$/m,
    ],
    ['bytes that are no row', () => changed(5, () => Buffer.from('no row')), /^place 5: /m],
  ]
  for (const [what, wrong, said] of FAULTS)
    test(`names the place of ${what}`, async () => {
      const { code, stderr } = await checkWith(wrong(), ...dataOf('first'))
      assert.equal(code, 1, stderr)
      assert.match(stderr, said)
      const bare = await checkWith(wrong())
      assert.equal(bare.code, 1)
      assert.match(bare.stderr, said)
    })

  test('reads a table whose first rows were deleted, and needs a directory to check signatures', async () => {
    const bare = await checkWith(rows.slice(2))
    assert.equal(bare.code, 0, bare.stderr)
    assert.match(bare.stderr, /rows before place 3 were deleted/)
    assert.match(bare.stderr, /no signature was checked: the first rows are gone; give --data/)
    const compared = await checkWith(rows.slice(2), ...dataOf('first'))
    assert.equal(compared.code, 0, compared.stderr)
    assert.match(compared.stdout, /signed with daybook\.test\/table\+/)
  })

  test('tells a directory that is behind the table from one that is ahead of it', async () => {
    cpSync(stage.pathOf('first'), stage.pathOf('behind'), { recursive: true })
    const node = await stage.start('first', table)
    await publishAt(node, 'six')
    await untilHead(node, 6)
    await node[Symbol.asyncDispose]()
    rows = await table.rows()
    const behind = await check(...dataOf('behind'))
    assert.equal(behind.code, 0, behind.stderr)
    assert.match(behind.stderr, /the store is 1 events? behind the table/)
    const ahead = await checkWith(without(6), ...dataOf('first'))
    assert.equal(ahead.code, 1)
    assert.match(
      ahead.stderr,
      /the table ends at place 5, and the store at place 6: start this node, and it puts the/,
    )
  })

  test('names a directory of another log, of no table, and one whose kept rows differ', async () => {
    await stage.movedLog('other', 1)
    const other = await check(...dataOf('other'))
    assert.equal(other.code, 1)
    assert.match(other.stderr, /place 1: it is of another log than that of the store/)
    stage.makeLog('alone')
    const alone = await check(...dataOf('alone'))
    assert.equal(alone.code, 1)
    assert.match(alone.stderr, /no table carries the log of this directory: check it with daybook check/)
    cpSync(stage.pathOf('first'), stage.pathOf('kept'), { recursive: true })
    const db = new DatabaseSync(storePath(stage.pathOf('kept')))
    db.exec('UPDATE messages SET bytes = (SELECT bytes FROM messages WHERE place = 4) WHERE place = 5')
    db.close()
    const kept = await check(...dataOf('kept'))
    assert.equal(kept.code, 1)
    assert.match(kept.stderr, /^messages: the row at place 5 is not of this log$/m)
    assert.match(kept.stderr, /^place 5: the store keeps another row$/m)
  })

  test('complains about a server without a standby, and about wrong rights', async () => {
    const replicated = await stage.cluster('check', ...table.words.slice(0, 2))
    assert.equal(replicated.code, 1)
    assert.match(replicated.stderr, /synchronous_standby_names/)
    await table.sql('GRANT DELETE ON daybook_log TO daybook')
    const rights = await check()
    assert.equal(rights.code, 1)
    assert.match(rights.stderr, /can be changed by the role: REVOKE everything but SELECT and INSERT on it/)
    await table.sql('REVOKE DELETE ON daybook_log FROM daybook')
    assert.equal((await check()).code, 0)
    await table.sql('DROP TABLE daybook_log')
    assert.match((await check()).stderr, /there is no table public\.daybook_log/)
  })

  test('reads no more of a huge row than shows that it is none', async () => {
    const hostile = await stage.newTable()
    const huge = `convert_to(repeat('x', ${HUGE_ROW_BYTES}), 'UTF8')`
    await hostile.sql(`INSERT INTO daybook_log VALUES (1, ${huge})`)
    const options = tableOptions({ isSingle: true })
    await using open = openLogTable(parseDatabaseUrl(hostile.url, null), options)
    const look = await open.look(1, ROW_BYTES_MAX, 0)
    assert.deepEqual(
      look.rows.map(({ bytes }) => bytes.length),
      [ROW_BYTES_MAX + 1],
    )
  })
})
