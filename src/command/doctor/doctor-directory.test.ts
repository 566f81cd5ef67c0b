import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { everyCommand, programOf, run } from '../../../test/stage/command-stage.ts'
import { makeLogBeforeKey } from '../../../test/story/changed-key.ts'
import { change, makeLog, openFolder, runBackup, writeKey } from '../../../test/story/damaged-log.ts'
import { TEST_KEY } from '../../../test/story/signing.ts'
import { storePath } from '../../log/store/store.ts'
import { HOUR_MS, msOf } from '../../protocol/moment.ts'
import { defaultKeyFile } from '../operator/signing-key-file.ts'

/** Moment of the backups of these tests. */
const BEGAN = Date.UTC(2026, 5, 1)

type Folder = ReturnType<typeof openFolder>

async function examined(words: readonly string[], hoursLater = 1): Promise<string> {
  const { stdout } = await run(['doctor', ...words], { now: () => msOf(BEGAN + hoursLater * HOUR_MS) })
  return stdout
}

/** A log with a folder of one backup. */
async function backedUp(folder: Folder): Promise<string> {
  makeLog(folder.data, [3])
  const backups = join(folder.path, 'backups/')
  await runBackup(folder.data, backups)
  return backups
}

/** Holds that each command in findings is one of the program, with the options that it demands. */
async function assertRunnable(said: string, count: number): Promise<void> {
  const program = await programOf({}, () => undefined)
  const commands = [...said.matchAll(/\bdaybook ((?:backup|upgrade|held) .*?)(?= each night| now|$)/gm)]
  assert.equal(commands.length, count, said)
  for (const [, text = ''] of commands) {
    const words = text.split(' ')
    const command = everyCommand(program).find((one) => one.name() === words[0])
    const given = words.filter((word) => word.startsWith('--'))
    const known = everyCommand(command ?? program).flatMap(({ options }) => options)
    for (const flag of given)
      assert.ok(
        known.some(({ long }) => long === flag),
        text,
      )
    const needed = NEEDED[words[0] ?? ''] ?? []
    assert.deepEqual(
      needed.filter((flag) => !given.includes(flag)),
      [],
      text,
    )
  }
}

/** Options without which a command ends with 2. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  backup: ['--data', '--to'],
  upgrade: ['--data'],
  held: ['--token-file'],
}

suite('a data directory', () => {
  test('with a backup of the last day has no fault', async () => {
    using folder = openFolder()
    const backups = await backedUp(folder)
    const said = await examined(['--data', folder.data, '--backups', backups])
    assert.doesNotMatch(said, /^(?:warn|wrong)/m)
    assert.match(said, /^ok +backup +the last verified one is 60 min old: 3 events, /m)
    assert.match(said, /^ok +backups +1 in \S+backups\/, the newest 60 min old with 3 events/m)
    assert.match(said, /^note +backups +\S+ is on the disk of the log and is lost with it/m)
  })

  test('with a backup older than 26 hours is told to make one', async () => {
    using folder = openFolder()
    const backups = await backedUp(folder)
    const words = ['--data', folder.data, '--backups', backups]
    assert.doesNotMatch(await examined(words, 26), /^warn +backup/m)
    const said = await examined(words, 27)
    assert.match(
      said,
      /^warn +backup +the last verified one is 27 h old: .* run daybook backup --data \S+ --to FOLDER now/m,
    )
    assert.match(
      said,
      /^warn +backups +1 in \S+, the newest 27 h old .* run daybook backup --data \S+ --to \S+ now/m,
    )
    await assertRunnable(said, 2)
  })

  test('without a backup is told to make one', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    const empty = join(folder.path, 'empty')
    mkdirSync(empty)
    const said = await examined(['--data', folder.data, '--backups', empty])
    assert.match(
      said,
      /^warn +backup +no verified backup was made: run daybook backup --data \S+ --to FOLDER each night/m,
    )
    assert.match(said, /^wrong +backups +\S+empty has no backup of this log/m)
  })

  test('with a private key among its files is found, under any name, in the folder of backups too', async () => {
    using folder = openFolder()
    const backups = await backedUp(folder)
    writeKey(join(folder.data, 'spare.pem'), TEST_KEY)
    copyFileSync(defaultKeyFile(folder.data), join(backups, 'key-copy'))
    symlinkSync(defaultKeyFile(folder.data), join(folder.data, 'link'))
    const said = await examined(['--data', folder.data, '--backups', backups])
    const lines = said.match(/^wrong +key .*/gm) ?? []
    assert.equal(lines.length, 2, said)
    assert.match(said, /^wrong +key +\S+data\/spare\.pem is a private key beside the log: move it away/m)
    assert.match(said, /^wrong +key +\S+backups\/key-copy is a private key beside the log/m)
  })

  test('without its key is found', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    const said = await examined(['--data', folder.data, '--signing-key-file', join(folder.path, 'lost')])
    assert.match(said, /^wrong +key +\S+lost is missing: bring its copy back/m)
  })

  test('with a store from before a change of the key has no fault when the new key is given', async () => {
    using folder = openFolder()
    const keyFiles = makeLogBeforeKey(folder)
    const words = ['--data', folder.data]
    assert.match(await examined(words), /^wrong +high-water +seq 1: no key of this log has signed/m)
    const said = await examined([...words, '--signing-key-file', keyFiles.join(',')])
    assert.match(said, /^ok +high-water/m)
    assert.doesNotMatch(said, /^wrong/m)
  })

  test('with backups that others may read is found', async () => {
    using folder = openFolder()
    const backups = await backedUp(folder)
    const [name = ''] = readdirSync(backups).filter((one) => one.endsWith('.db'))
    chmodSync(join(backups, name), 0o640)
    chmodSync(backups, 0o755)
    for (const words of [['--data', folder.data], []]) {
      const said = await examined([...words, '--backups', backups])
      assert.match(said, /^wrong +backups +\S+\.db may be read by other users, with the refs: chmod 600/m)
      assert.match(said, /^warn +backups +\S+: other users may look into it: chmod 700/m)
    }
  })

  test('with the store of an older Daybook is told to upgrade it, and everything else is examined', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    change(folder.data, (db) => db.exec('PRAGMA user_version = 13'))
    const said = await examined(['--data', folder.data])
    assert.match(said, /^wrong +store +the store has schema 13/m)
    assert.match(said, /^ok +modes/m)
  })

  test('with a file that is no store is found, and everything else is examined', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    writeFileSync(storePath(folder.data), 'no store, but a text of some length, so that SQLite reads it')
    const said = await examined(['--data', folder.data])
    assert.match(said, /^wrong +store +the store cannot be used: /m)
    assert.match(said, /^ok +modes/m)
  })

  test('that keeps old stores says how to remove them', async () => {
    using folder = openFolder()
    makeLog(folder.data, [3])
    for (const suffix of ['.schema-13', '.replaced-20260601T000000Z'])
      copyFileSync(storePath(folder.data), `${storePath(folder.data)}${suffix}`)
    const said = await examined(['--data', folder.data])
    assert.match(
      said,
      /^note +kept store +\S+schema-13 was kept by an upgrade: .* daybook upgrade --data \S+ --remove-old/m,
    )
    await assertRunnable(said, 2)
    assert.match(said, /^note +kept store +\S+replaced-\S+ was kept by a restore: .*, with rm/m)
  })
})
