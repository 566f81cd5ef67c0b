import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { HIGH_WATER_FILE } from '../../src/log/store/high-water.ts'
import { readStoreIdentity } from '../../src/log/store/store.ts'
import { change, flip, openFolder, publishUpTo, refusalAtStart, SIGNING } from '../story/damaged-log.ts'
import { backedUp, runRestore } from './restore-stage.ts'

const ACCEPT = { ...SIGNING, acceptLoss: true }

/** High-water marks that do not know of the newest events, each made from the mark of the backup. */
const OLD_MARKS: Readonly<Record<string, (path: string, old: Buffer) => void>> = {
  'behind the store, as after a power cut': writeFileSync,
  'damaged and removed': (path) => rmSync(path),
  damaged: (path, old) => writeFileSync(path, old.fill(0)),
}

suite('a restore that loses events of the present store', () => {
  for (const [name, age] of Object.entries(OLD_MARKS)) {
    test(`leads to a new log also with a high-water mark that is ${name}`, async () => {
      using folder = openFolder()
      const { data } = folder
      const { backups } = await backedUp(data, folder.path)
      const mark = join(data, HIGH_WATER_FILE)
      const old = readFileSync(mark)
      publishUpTo(data, [12, 20])
      age(mark, old)
      const former = readStoreIdentity(data)
      const { code, said } = await runRestore(backups, data, true)
      assert.equal(code, 0, said)
      assert.match(said, /^warn +loss +the backup lacks 10 events after seq 10, which the present store has/m)
      assert.match(refusalAtStart(data) ?? '', /^seq 11: /, 'a start never takes the loss by itself')
      assert.equal(refusalAtStart(data, ACCEPT), undefined)
      const { id, origin } = readStoreIdentity(data)
      assert.notEqual(id, former.id)
      assert.notEqual(origin, former.origin)
    })
  }

  test('is refused when that store cannot prove them and no mark tells of them', async () => {
    using folder = openFolder()
    const { data } = folder
    const { backups } = await backedUp(data, folder.path)
    const mark = join(data, HIGH_WATER_FILE)
    publishUpTo(data, [20])
    copyFileSync(mark, join(folder.path, 'mark'))
    rmSync(mark)
    change(data, (db) => flip(db, 'events', 'signature', 'seq = 20'))
    const { code, said } = await runRestore(backups, data, true)
    assert.equal(code, 1)
    assert.match(
      said,
      /^wrong +loss +the backup lacks 10 events .* Its newest tree is not the one that was signed/m,
    )
    copyFileSync(join(folder.path, 'mark'), mark)
    assert.equal((await runRestore(backups, data, true)).code, 0)
    assert.match(refusalAtStart(data) ?? '', /^seq 11: /)
  })
})
