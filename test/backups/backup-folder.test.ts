import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { backupName, backupsIn, lockBackups } from '../../src/log/backup/backup-folder.ts'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { readLastBackup } from '../../src/log/backup/last-backup.ts'
import { readStoreIdentity, storePath } from '../../src/log/store/store.ts'
import { DAY_MS, type Ms, msOf } from '../../src/protocol/moment.ts'
import { change, flip, makeLog, openFolder, publishUpTo, runBackup, runCheck } from '../story/damaged-log.ts'
import { mayFillDisk } from '../../src/command/backups/backup-command.ts'

const START = Date.UTC(2026, 5, 1, 3, 10)
/** The moment `days` after the first backup. */
const after = (days: number) => () => msOf(START + days * DAY_MS)
const backupFiles = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.db'))

async function backUp(data: string, to: string, days: number, keepDays = 30): Promise<string> {
  const { code, said } = await runBackup(data, to, { keepDays }, after(days))
  assert.equal(code, 0, said)
  return said
}

suite('a backup to a folder', () => {
  test('is a private file, named after the log and the moment, that a check accepts', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3, 10])
    const to = join(folder.path, 'backups', 'daily/')
    const said = await backUp(folder.data, to, 0)
    const name = `daybook-${readStoreIdentity(folder.data).id.slice(0, 8)}-20260601T031000Z.db`
    assert.equal(said, `${join(to, name)} holds 10 events\n`)
    assert.deepEqual(backupFiles(to), [name])
    assert.equal(statSync(join(to, name)).mode & 0o777, 0o600)
    assert.equal(statSync(to).mode & 0o777, 0o700)
    const { at, events, bytes } = readLastBackup(folder.data) ?? assert.fail('the backup is noted')
    assert.deepEqual([at, events, bytes], [START, 10, statSync(join(to, name)).size])
    const restored = join(folder.path, 'restored')
    mkdirSync(restored)
    copyFileSync(join(to, name), storePath(restored))
    assert.equal((await runCheck(restored)).code, 0)
  })

  test('waits for the next second when one of this second exists', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    const to = join(folder.path, 'backups/')
    await backUp(folder.data, to, 0)
    // A clock that starts when it is first read, in the second of the first backup.
    let begun: number | undefined
    const now = (): Ms => msOf(START + 500 + Date.now() - (begun ??= Date.now()))
    assert.equal((await runBackup(folder.data, to, {}, now)).code, 0)
    assert.equal(backupFiles(to).length, 2)
  })

  test('is refused when the clock stands still, and the backup of that second stays', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    const to = join(folder.path, 'backups/')
    await backUp(folder.data, to, 0)
    await assert.rejects(
      runBackup(folder.data, to, {}, () => msOf(START + 900)),
      /20260601T031000Z\.db exists already, and the clock stands still$/,
    )
    assert.equal(backupFiles(to).length, 1)
  })

  test('keeps every backup of the newest days that have one', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    const to = join(folder.path, 'backups/')
    for (const day of [0, 1, 1.25, 2, 40]) await backUp(folder.data, to, day, 3)
    const moments = [...backupsIn(to)].map(({ atMs }) => (atMs - START) / DAY_MS)
    assert.deepEqual(moments, [40, 2, 1.25, 1], 'a pause of a month removes no good backup')
    assert.match(await backUp(folder.data, to, 41, 1), /^4 older backups removed: --keep-days 1$/m)
    assert.equal(backupFiles(to).length, 1)
  })

  test('never removes the one that it has just made, when the clock has gone back', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    const to = join(folder.path, 'backups/')
    for (const day of [100, 101, 0]) await backUp(folder.data, to, day, 1)
    const moments = [...backupsIn(to)].map(({ atMs }) => (atMs - START) / DAY_MS)
    assert.deepEqual(moments, [101, 0])
  })

  test('removes no file that it did not make, and no backup of another log', async () => {
    using folder = openFolder()
    using other = openFolder()
    makeLog(folder.data, [3])
    makeLog(other.data, [5])
    const to = join(folder.path, 'backups/')
    await backUp(other.data, to, 0)
    await backUp(folder.data, to, 1)
    const { id } = readStoreIdentity(folder.data)
    const old = (days: number): string => join(to, backupName(id, after(days)()))
    writeFileSync(old(-1), 'notes, not a store')
    mkdirSync(old(-2))
    symlinkSync(storePath(folder.data), old(-3))
    symlinkSync(join(folder.path, 'nothing'), old(-4))
    // A backup of the other log under a name of this one.
    copyFileSync(storePath(other.data), old(-5))
    mkdirSync(`${old(-6)}.partial`)
    writeFileSync(join(to, `daybook-${id.slice(0, 8)}-20269999T000000Z.db`), '')
    writeFileSync(join(to, 'daybook-notes.db'), '')
    const before = new Set(readdirSync(to))
    await backUp(folder.data, to, 2, 1)
    const names = readdirSync(to)
    assert.deepEqual(
      [...before].filter((name) => !names.includes(name)),
      [backupName(id, after(1)())],
      'only the older backup of this log is gone',
    )
    assert.ok(existsSync(storePath(folder.data)))
  })

  test('removes what a killed backup has left, and no file under a final name is incomplete', async () => {
    using folder = openFolder()
    makeLog(folder.data, [400])
    const to = join(folder.path, 'backups')
    mkdirSync(to)
    const { id } = readStoreIdentity(folder.data)
    const partial = `${join(to, backupName(id, after(0)()))}.partial`
    const module = JSON.stringify(import.meta.resolve('../../src/log/backup/backup.ts'))
    const paths = [storePath(folder.data), partial.replace('.partial', '')].map((path) =>
      JSON.stringify(path),
    )
    const script = `const { backupStore } = await import(${module})
      await backupStore(${paths.join(', ')}, () => {}, () => process.kill(process.pid, 'SIGKILL'))`
    const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    assert.equal(killed.signal, 'SIGKILL', killed.stderr)
    writeFileSync(`${partial}.checking-wal`, '')
    const others = join(to, 'daybook-00000000-20260601T031000Z.db.partial')
    writeFileSync(others, 'of another log, which may be in work')
    assert.ok(existsSync(partial))
    assert.deepEqual(backupFiles(to), [])
    await backUp(folder.data, to, 1)
    assert.deepEqual(
      readdirSync(to).filter((name) => name.includes('.partial')),
      ['daybook-00000000-20260601T031000Z.db.partial'],
    )
  })

  test('is refused while another backup of the log writes into the folder', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    const to = join(folder.path, 'backups')
    mkdirSync(to)
    using _other = lockBackups(to, readStoreIdentity(folder.data).id)
    await assert.rejects(runBackup(folder.data, to), /another backup of this log writes into \S+backups$/)
    assert.deepEqual(backupFiles(to), [])
  })

  test('is not made of a log that lacks published events or has other ones, and the older backups stay', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 10])
    const to = join(folder.path, 'backups/')
    await backUp(data, to, 0, 1)
    const [kept = ''] = backupFiles(to)
    publishUpTo(data, [12, 20])
    const mark = join(data, HIGH_WATER_FILE)
    copyFileSync(mark, join(folder.path, 'mark'))
    copyFileSync(join(to, kept), storePath(data))
    await assert.rejects(
      runBackup(data, to, { keepDays: 1 }),
      /no copy was made: seq 11: the log ends at seq 10/,
    )
    change(data, (db) => flip(db, 'events', 'line', 'seq = 9'))
    await assert.rejects(runBackup(data, to, { keepDays: 1 }), /no copy was made: seq 9: /)
    assert.deepEqual(
      readdirSync(to).filter((name) => !name.endsWith('.lock')),
      [kept],
    )
    assert.equal(readLastBackup(data)?.at, START, 'the note is still that of the good one')
  })

  test('with `--verify full` is not made of a log whose tables differ, which the quick check cannot see', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 400])
    const to = join(folder.path, 'backups/')
    assert.match((await runBackup(data, to, { isFull: true }, after(0))).said, /holds 400 events/)
    change(data, (db) => db.exec("UPDATE totals SET row = x'00' WHERE id = (SELECT min(id) FROM totals)"))
    await backUp(data, to, 1)
    await assert.rejects(
      runBackup(data, to, { isFull: true }, after(2)),
      /no copy was made: the log has faults/,
    )
    assert.equal(backupFiles(to).length, 2)
    assert.ok(readdirSync(to).every((name) => !name.includes('.partial')))
  })

  test('makes no folder for the store of an older Daybook, which it refuses', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    change(folder.data, (db) => db.exec('PRAGMA user_version = 13'))
    const to = join(folder.path, 'backups/')
    await assert.rejects(runBackup(folder.data, to), /the store has schema 13.*daybook upgrade/)
    assert.equal(existsSync(to), false)
  })

  test('is made although the high-water mark is damaged, and says so', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    writeFileSync(join(folder.data, HIGH_WATER_FILE), 'damaged')
    const { code, said } = await runBackup(folder.data, join(folder.path, 'copy.db'))
    assert.equal(code, 0)
    assert.match(said, /holds no high-water mark: .*; the copy is not compared with it/)
  })

  test('is good although it cannot be noted in the data directory, and says so', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    mkdirSync(join(folder.data, 'last-backup'))
    writeFileSync(join(folder.data, 'last-backup', 'x'), '')
    const { code, said } = await runBackup(folder.data, join(folder.path, 'copy.db'))
    assert.equal(code, 0)
    assert.match(said, /the backup cannot be noted in \S+data: /)
    chmodSync(folder.data, 0o700)
  })
})

test('a copy ends before the write-ahead log that it holds can fill the disk', () => {
  const MIB = 1024 * 1024
  assert.equal(mayFillDisk(10 * MIB, 5 * MIB), false, 'a small one is harmless on a small disk')
  assert.equal(mayFillDisk(300 * MIB, 400 * MIB), false)
  assert.equal(mayFillDisk(300 * MIB, 299 * MIB), true)
})
