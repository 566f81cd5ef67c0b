import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { backupName } from '../../src/log/backup/backup-folder.ts'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { openForWriting, readStoreIdentity, storePath } from '../../src/log/store/store.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { run } from '../stage/command-stage.ts'
import { addKey } from '../story/changed-key.ts'
import {
  change,
  flip,
  makeLog,
  openFolder,
  publishUpTo,
  refusalAtStart,
  runBackup,
  runCheck,
  SIGNING,
} from '../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { backedUp, filesOf, runRestore } from './restore-stage.ts'

const ACCEPT = { ...SIGNING, acceptLoss: true }

const dryRun = (from: string, data: string) => run(['restore', '--from', from, '--data', data, '--dry-run'])

function eventsOf(data: string): number {
  return change(data, (db) => Number(db.prepare('SELECT max(seq) AS seq FROM events').get()?.['seq']))
}

suite('a restore', () => {
  test('into an empty directory gives a log that a start accepts, and names the next commands', async () => {
    using folder = openFolder()
    const { backups } = await backedUp(folder.data, folder.path)
    const data = join(folder.path, 'new', 'data')
    cpSync(`${folder.data}.key`, `${folder.path}/key`)
    const { code, said } = await runRestore(backups, data)
    assert.equal(code, 0, said)
    assert.match(said, /^warn +loss +without a high-water mark nothing tells what was published/m)
    assert.match(said, /^warn +key +\S+data\.key is missing: bring its copy back/m)
    assert.match(said, /^next: daybook check --data \S+new\/data$/m)
    assert.match(said, /^then: daybook serve --data \S+new\/data$/m)
    assert.equal(statSync(storePath(data)).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(data).toSorted(), ['daybook.db', 'lock'])
    const keyed = await runRestore(backups, join(folder.path, 'keyed'), false, [`${folder.data}.key`])
    assert.match(keyed.said, /^next: daybook check --data \S+keyed --signing-key-file \S+data\.key$/m)
    assert.match(keyed.said, /^then: daybook serve --data \S+keyed --signing-key-file \S+data\.key$/m)
    assert.equal((await runCheck(data)).code, 0)
    assert.equal(refusalAtStart(data), undefined)
  })

  test('tried with `--dry-run` says what would happen and changes nothing', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups, backup } = await backedUp(data, folder.path)
    const before = filesOf(data)
    const whole = await dryRun(backups, data)
    assert.equal(whole.code, 0, whole.stdout)
    assert.ok(whole.stdout.includes(`${backup}, made `))
    assert.match(whole.stdout, /^note +log +daybook\.test\/log, id [0-9a-f]{32}$/m)
    assert.match(whole.stdout, /^ok +loss +the backup holds every published event$/m)
    assert.match(whole.stdout, /^ok +key +\S+ is private and signs this log$/m)
    assert.match(whole.stdout, /^ok +disk +the restore needs \S+ KiB, and .* are free$/m)
    publishUpTo(data, [12, 20])
    const lossy = await dryRun(backups, data)
    assert.equal(lossy.code, 1)
    assert.match(
      lossy.stdout,
      /^wrong +loss +the backup lacks 10 events after seq 10, which the log has published: use a newer/m,
    )
    assert.match(lossy.stderr, /^nothing was changed: leave out --dry-run to restore$/m)
    const missing = join(folder.path, 'missing')
    assert.equal((await dryRun(backups, missing)).code, 0)
    assert.equal(existsSync(missing), false)
    assert.deepEqual(
      filesOf(data).map(([name]) => name),
      before.map(([name]) => name),
    )
    assert.ok(!existsSync(join(data, 'lock')))
  })

  test('replaces a damaged store and its journal, keeps both aside, and keeps the high-water mark', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    // The files of a killed service.
    const killed = join(folder.path, 'killed')
    const open = openForWriting(storePath(data))
    open.exec("INSERT INTO meta VALUES ('chain-id', 'a commit')")
    cpSync(data, killed, { recursive: true })
    open.close()
    writeFileSync(storePath(killed), 'damaged', { flag: 'r+' })
    const mark = readFileSync(join(killed, HIGH_WATER_FILE))
    const { code, said } = await runRestore(backups, killed)
    assert.equal(code, 0, said)
    assert.match(said, /^note +present +the present store cannot be read/m)
    assert.match(said, /the replaced store is kept as \S+daybook\.db\.replaced-20260601T000000Z: remove it/)
    assert.ok(existsSync(join(killed, 'daybook.db.replaced-20260601T000000Z-wal')))
    assert.ok(!existsSync(`${storePath(killed)}-wal`))
    assert.deepEqual(readFileSync(join(killed, HIGH_WATER_FILE)), mark)
    assert.equal(refusalAtStart(killed), undefined)
    assert.equal((await runCheck(killed)).code, 0)
  })

  test('is refused when published events are not in the backup, and nothing changes', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    publishUpTo(data, [12, 20])
    const before = filesOf(data)
    const { code, said } = await runRestore(backups, data)
    assert.equal(code, 1)
    assert.match(said, /^wrong +loss +the backup lacks 10 events after seq 10, which the log has published/m)
    assert.match(said, /^nothing was changed$/m)
    assert.deepEqual(filesOf(data), before)
    rmSync(join(data, HIGH_WATER_FILE))
    assert.match(
      (await runRestore(backups, data)).said,
      /the backup lacks 10 events after seq 10, which the present store has/,
    )
  })

  test('with `--accept-loss` is done, keeps the larger store, and leads to a new log', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    publishUpTo(data, [12, 20])
    const { id } = readStoreIdentity(data)
    const { code, said } = await runRestore(backups, data, true)
    assert.equal(code, 0, said)
    assert.match(said, /^then: daybook serve --data \S+ --accept-loss, once: a new log begins/m)
    const kept = join(folder.path, 'kept')
    mkdirSync(kept)
    copyFileSync(`${storePath(data)}.replaced-20260601T000000Z`, storePath(kept))
    assert.equal(eventsOf(kept), 20, 'the replaced store is whole')
    assert.match(refusalAtStart(data) ?? '', /^seq 11: /, 'a start never takes the loss by itself')
    assert.equal(refusalAtStart(data, ACCEPT), undefined)
    assert.notEqual(readStoreIdentity(data).id, id)
    const again = await runRestore(backups, data)
    assert.equal(again.code, 1)
    assert.match(
      again.said,
      /^wrong +loss +the log [0-9a-f]{32} continues this one since a loss was accepted/m,
    )
  })

  test('of a backup from before a change of the key takes the new key, and nothing is lost', async () => {
    using folder = openFolder()
    const { data, path } = folder
    const { backups } = await backedUp(data, path)
    const [, added = ''] = addKey(data, path)
    rmSync(storePath(data))
    await assert.rejects(
      runRestore(backups, data),
      /seq 1: no key of this log has signed the high-water mark/,
    )
    // The mark has a signature of the old key too, which the backup lists.
    const { code, said } = await runRestore(backups, data, false, [join(path, 'missing'), added])
    assert.equal(code, 0, said)
    assert.match(said, /^warn +key +\S+missing is missing/m)
    assert.match(said, /^ok +loss +the backup holds every published event$/m)
    assert.equal(refusalAtStart(data, { ...SIGNING, keys: [TEST_KEY, OTHER_KEY] }), undefined)
    assert.equal(eventsOf(data), 10)
  })

  test('takes the newest backup of its log, whatever else is in the folder', async () => {
    using folder = openFolder()
    using other = openFolder()
    const { data } = folder
    const { backups, backup } = await backedUp(data, folder.path)
    makeLog(other.data, [5])
    const { id } = readStoreIdentity(data)
    const named = (day: number, of = id): string =>
      join(backups, backupName(of, msOf(Date.UTC(2026, 6, day))))
    await runBackup(other.data, named(9, readStoreIdentity(other.data).id))
    copyFileSync(storePath(other.data), named(8))
    writeFileSync(named(7), 'no store')
    mkdirSync(named(6))
    symlinkSync(join(folder.path, 'nothing'), named(5))
    const { code, stdout } = await dryRun(backups, data)
    assert.equal(code, 0, stdout)
    assert.match(stdout, new RegExp(`^note +backup +${backup}, made `, 'm'))
    assert.equal(stdout.match(/^warn +backup +\S+ is newer, but is no store that can be read$/gm)?.length, 3)
    const several = await dryRun(backups, join(folder.path, 'empty'))
    assert.equal(several.code, 2)
    assert.match(several.stderr, /--from: \S+backups holds backups of 2 logs: give the file of one/)
  })

  test('takes the backup with the most events, also when a wrong clock named it earlier', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    publishUpTo(data, [20])
    const wrongClock = () => msOf(Date.UTC(2026, 4, 20))
    await runBackup(data, `${backups}/`, {}, wrongClock)
    const { code, said } = await runRestore(backups, data)
    assert.equal(code, 0, said)
    assert.match(said, /20260520T000000Z\.db, made 12 days ago: 20 events, /)
    assert.equal(eventsOf(data), 20)
  })

  test('takes the later of two backups with as many events, and none of a former log', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    const later = () => msOf(Date.UTC(2026, 5, 3))
    await runBackup(data, `${backups}/`, {}, later)
    assert.match((await dryRun(backups, data)).stdout, /20260603T000000Z\.db, /)
    publishUpTo(data, [20])
    await runBackup(data, `${backups}/`, {}, () => msOf(Date.UTC(2026, 5, 5)))
    const cut = join(folder.path, 'cut')
    mkdirSync(cut)
    copyFileSync(join(backups, backupName(readStoreIdentity(data).id, later())), storePath(cut))
    copyFileSync(join(data, HIGH_WATER_FILE), join(cut, HIGH_WATER_FILE))
    assert.equal(refusalAtStart(cut, ACCEPT), undefined)
    await runBackup(cut, `${backups}/`, {}, later)
    const { stdout } = await dryRun(backups, cut)
    assert.match(stdout, /^ok +loss +the backup holds every published event$/m)
    assert.match(stdout, new RegExp(`id ${readStoreIdentity(cut).id}$`, 'm'))
  })

  test('is refused for the directory of another log, a wrong path, and a file that is no store', async () => {
    using folder = openFolder()
    using other = openFolder()
    const { backups, backup } = await backedUp(folder.data, folder.path)
    makeLog(other.data, [5])
    assert.match(
      (await dryRun(backup, other.data)).stdout,
      /^wrong +loss +the directory belongs to another log/m,
    )
    assert.match((await dryRun(backups, other.data)).stderr, /holds no backup of the log [0-9a-f]{32}/)
    const file = join(folder.path, 'file')
    writeFileSync(file, 'some text that is no store')
    assert.match((await dryRun(file, folder.data)).stderr, /\/file is no store of Daybook/)
    const locked = join(folder.path, 'loop')
    symlinkSync('loop', locked)
    assert.equal((await dryRun(locked, folder.data)).code, 2)
    assert.match((await dryRun(join(folder.path, 'none'), folder.data)).stderr, /there is no file or folder/)
  })

  test('is refused for a backup that was changed or cut, and nothing changes', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backup } = await backedUp(data, folder.path)
    const before = filesOf(data)
    const changed = join(folder.path, 'changed')
    mkdirSync(changed)
    copyFileSync(backup, storePath(changed))
    change(changed, (db) => flip(db, 'events', 'line', 'seq = 9'))
    await assert.rejects(
      runRestore(storePath(changed), data),
      /nothing was restored: .*seq 9: .*try an older backup/,
    )
    copyFileSync(backup, storePath(changed))
    truncateSync(storePath(changed), statSync(backup).size >> 1)
    await assert.rejects(
      runRestore(storePath(changed), data),
      /nothing was restored: |is no store of Daybook/,
    )
    assert.deepEqual(filesOf(data), before)
  })

  test('of a store of an older Daybook names the upgrade', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backup } = await backedUp(data, folder.path)
    const old = join(folder.path, 'old')
    mkdirSync(old)
    copyFileSync(backup, storePath(old))
    change(old, (db) => db.exec('PRAGMA user_version = 13'))
    const { code, said } = await runRestore(storePath(old), data)
    assert.equal(code, 0, said)
    assert.match(said, /^warn +schema +the store has schema 13/m)
    assert.match(said, /^next: daybook upgrade --data \S+$/m)
    change(old, (db) => db.exec('PRAGMA user_version = 1000'))
    assert.match((await dryRun(storePath(old), data)).stdout, /^wrong +schema +the store has schema 1000/m)
  })
})
