import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { restore } from '../../src/command/backups/restore-command.ts'
import { readStoreIdentity, storePath } from '../../src/log/store/store.ts'
import { type Ms, msOf } from '../../src/protocol/moment.ts'
import { MAIN } from '../stage/places.ts'
import { skipWithout } from '../processes/test-needs.ts'
import { change, NEW_LOG, openFolder, refusalAtStart, runCommand } from '../story/damaged-log.ts'
import { backedUp, filesOf, runRestore } from './restore-stage.ts'

suite('a restore', () => {
  test('killed at any step leaves the old store or the new one, and can be repeated', async () => {
    using folder = openFolder()
    const { backups, backup } = await backedUp(folder.data, folder.path)
    change(folder.data, (db) => db.exec("INSERT INTO meta VALUES ('chain-id', 'old')"))
    const module = JSON.stringify(import.meta.resolve('../../src/publish/restore-store.ts'))
    for (const [step, left] of Object.entries({
      copied: 'old',
      emptied: 'old',
      linking: 'old',
      renaming: 'old',
      replaced: 'new',
    })) {
      const data = join(folder.path, step)
      cpSync(folder.data, data, { recursive: true })
      const settings = JSON.stringify({
        from: backup,
        dataDirectory: data,
        kept: `${storePath(data)}.replaced-x`,
        isPresentWhole: true,
      })
      const script = `const { restoreStore } = await import(${module})
        const onStep = (step) => { if (step === '${step}') process.kill(process.pid, 'SIGKILL') }
        await restoreStore({ ...${settings}, onStep, onProgress() {}, verify() {} })`
      const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
      assert.equal(killed.signal, 'SIGKILL', killed.stderr)
      const isOld = change(
        data,
        (db) => db.prepare("SELECT 1 FROM meta WHERE key = 'chain-id'").get() !== undefined,
      )
      assert.equal(isOld ? 'old' : 'new', left, step)
      assert.equal(refusalAtStart(data), undefined, step)
      cpSync(`${folder.data}.key`, `${data}.key`)
      const { code, said } = await runRestore(backups, data)
      assert.equal(code, 0, said)
      assert.ok(
        readdirSync(data).every((name) => !name.includes('.restoring')),
        step,
      )
    }
  })

  test('keeps both stores when it is repeated in the same second', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    const begun = Date.now()
    const now = (): Ms => msOf(Date.UTC(2026, 5, 1) + Date.now() - begun)
    const settings = { from: backups, data }
    for (const _ of [1, 2]) {
      const { code, said } = await runCommand((context) => restore(settings, { ...context, now }))
      assert.equal(code, 0, said)
    }
    assert.equal(readdirSync(data).filter((name) => name.includes('.replaced-')).length, 2)
  })

  test('onto a full disk leaves the old store, and says so', { skip: skipWithout('prlimit') }, async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    const before = filesOf(data)
    const words = [MAIN, 'restore', '--from', backups, '--data', data]
    const ended = spawnSync('prlimit', ['--fsize=30000:30000', process.execPath, ...words], {
      encoding: 'utf8',
    })
    assert.equal(ended.status, 1, ended.stderr)
    assert.match(ended.stderr, /^daybook: nothing was restored: [^\n]+$/m)
    assert.deepEqual(filesOf(data), before)
    assert.equal(readStoreIdentity(data).origin, NEW_LOG.origin)
  })
})
