import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openMirror, openOrigin } from '../../../test/mirroring/mirror-stage.ts'
import { change } from '../../../test/story/damaged-log.ts'
import { HIGH_WATER_FILE } from '../../log/store/high-water.ts'
import { openHeadCell } from '../../log/store/head-cell.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { provenTree } from '../proof/proven-tree.ts'
import { openMirrorStore } from './mirror-store.ts'

/** Makes the descriptor by which this process has `from` open one of `to`. Descriptors have the lowest free number. */
function redirect(from: string, to: string): void {
  // The descriptor that lists the folder is closed by then.
  const isOpen = (fd: string): boolean => existsSync(`/proc/self/fd/${fd}`)
  const wanted = readdirSync('/proc/self/fd').find(
    (fd) => isOpen(fd) && readlinkSync(`/proc/self/fd/${fd}`) === from,
  )
  assert.ok(wanted !== undefined, `${from} is open`)
  closeSync(Number(wanted))
  const lower: number[] = []
  let fd = openSync(to, 'r+')
  for (; fd !== Number(wanted); fd = openSync(to, 'r+')) lower.push(fd)
  for (const one of lower) closeSync(one)
}

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
