import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openMirror, openOrigin } from '../../../test/mirroring/mirror-stage.ts'
import { change } from '../../../test/story/damaged-log.ts'
import { openHeadCell } from '../../log/store/head-cell.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { provenTree } from '../proof/proven-tree.ts'
import { openMirrorStore } from './mirror-store.ts'

suite('the store of a mirror', () => {
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
