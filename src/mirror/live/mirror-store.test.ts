import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openMirror, openOrigin } from '../../../test/mirror/mirroring-stage.ts'
import { redirect } from '../../../test/crash/redirected-file.ts'
import { change } from '../../../test/story/damaged-log.ts'
import { HIGH_WATER_FILE } from '../../log/store/high-water.ts'
import { formatUtf8 } from '../../tlog/note.ts'
import { provenTree } from '../proof/proven-tree.ts'
import { openMirrorStore } from './mirror-store.ts'
import { openHeadCell } from '../../log/head-cell.ts'

suite('the store of a mirror', () => {
  test('on a disk without room for the high-water mark shows its event once there is room', async () => {
    await using origin = await openOrigin(5)
    await using mirror = openMirror(origin.url)
    await mirror.follow()
    const head = mirror.head()
    const mark = join(mirror.data, HIGH_WATER_FILE)
    redirect(mark, '/dev/full')
    await origin.trade(1)
    const full = await mirror.until(({ fault }) => fault !== null)
    assert.deepEqual([full.fault, full.waits, full.behindEvents], ['the disk is full', 'disk', 1])
    assert.equal(mirror.head(), head)
    redirect('/dev/full', mark)
    await mirror.reach(head + 1)
  })

  test('in which a signature cannot be replaced takes it later, and other commits', async () => {
    await using origin = await openOrigin(5)
    await using mirror = openMirror(origin.url)
    await mirror.build()
    using store = openMirrorStore({ dataDirectory: mirror.data, vkeys: [] }, openHeadCell(), () => undefined)
    const keys = await store.knownKeys()
    const tree = await provenTree('own', formatUtf8(store.checkpoint()), keys)
    change(mirror.data, (db) =>
      db.exec(
        "CREATE TRIGGER refused BEFORE UPDATE OF signature ON events BEGIN SELECT raise(FAIL, 'refused'); END",
      ),
    )
    assert.throws(() => store.signAgain(tree, keys), /refused/)
    store.book.begin()
    store.book.rollback()
    change(mirror.data, (db) => db.exec('DROP TRIGGER refused'))
    store.signAgain(tree, keys)
    assert.equal(store.checkpoint(), tree.note)
  })
})
