import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { LockedError, lockDirectory } from '../../src/log/store/lock.ts'
import { SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import { openForReading, storePath } from '../../src/log/store/store.ts'
import { removeKept } from '../../src/publish/upgrade/swap-stores.ts'
import type { UpgradeProgress } from '../../src/publish/upgrade/upgrade.ts'
import { skipUnless } from '../processes/test-needs.ts'
import { change, copyLog, makeLog, openFolder, publishUpTo, refusalAtStart } from '../story/damaged-log.ts'
import { assertSameStores, keptStoreOf, LONG_EVENTS, makeLongLog, upgrade } from './upgrade-stage.ts'

/** Bytes of a disk on which the long log fits once, and its new store does not. */
const SMALL_DISK = 20_000_000
const LARGE_DISK = 60_000_000

function succeeds(command: string, ...words: readonly string[]): boolean {
  try {
    execFileSync(command, words, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

suite('an upgrade', () => {
  test('that is stopped continues where it ended, also in another stage, and also after new events', async () => {
    using folder = openFolder()
    makeLongLog(folder.data)
    for (const stage of ['events', 'comparing']) {
      const stop = new AbortController()
      const onProgress = (at: UpgradeProgress): void => void (at.stage === stage && stop.abort())
      await assert.rejects(upgrade(folder.data, { signal: stop.signal, onProgress }), { name: 'AbortError' })
      assert.equal(refusalAtStart(folder.data), undefined, 'the old store can be served')
    }
    publishUpTo(folder.data, [LONG_EVENTS + 40])
    const seen: UpgradeProgress[] = []
    await upgrade(folder.data, { onProgress: (at) => seen.push(at) })
    assert.deepEqual(
      seen.map(({ stage }) => stage),
      ['comparing', 'proving', 'linking', 'renaming'],
    )
    assertSameStores(storePath(folder.data), keptStoreOf(folder.data, SCHEMA_VERSION))
  })

  test('begins again when another version of Daybook or another log has left what was built', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    const stop = new AbortController()
    const onProgress = (): void => stop.abort()
    await assert.rejects(upgrade(folder.data, { signal: stop.signal, onProgress, version: '0.0.1' }))
    const seen: string[] = []
    await upgrade(folder.data, { onProgress: ({ stage }) => void seen.push(stage) })
    assert.equal(seen[0], 'indexes')
  })

  test('begins again when a link has the name of what is built, and leaves its target alone', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    const other = join(folder.path, 'other.db')
    copyFileSync(storePath(folder.data), other)
    const before = readFileSync(other)
    symlinkSync(other, `${storePath(folder.data)}.upgrading`)
    assert.equal((await upgrade(folder.data))?.events, 300)
    assert.ok(readFileSync(other).equals(before))
    assert.ok(lstatSync(storePath(folder.data)).isFile())
  })

  test('is refused while another runs, and leaves that alone', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    const running = upgrade(folder.data)
    await assert.rejects(
      upgrade(folder.data),
      new LockedError('another upgrade of this data directory is running'),
    )
    assert.equal((await running)?.events, 300)
  })

  test('lets no one remove the old store meanwhile, and later that alone is removed', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    const onProgress = (): unknown => assert.throws(() => removeKept(folder.data), LockedError)
    await upgrade(folder.data, { onProgress })
    const kept = keptStoreOf(folder.data, SCHEMA_VERSION)
    writeFileSync(`${kept}.gz`, 'the copy of an operator')
    assert.deepEqual(
      removeKept(folder.data).map(({ path }) => path),
      [kept],
    )
  })

  test('waits for the service that uses the directory, as long as it is told', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    {
      using _service = lockDirectory(folder.data)
      await assert.rejects(upgrade(folder.data, { waitMs: 10 }), /a service still uses the directory/)
    }
    assert.equal((await upgrade(folder.data))?.events, 300)
  })

  test('of a damaged log is refused before anything is built', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    change(folder.data, (db) =>
      db.exec(`UPDATE events SET line = replace(line, '0.000000005', '0.000000007') WHERE seq = 5`),
    )
    await assert.rejects(upgrade(folder.data), /seq 5: the event is not what was published/)
  })

  test('does not replace the old store of an earlier upgrade', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    await upgrade(folder.data)
    await assert.rejects(
      upgrade(folder.data),
      /the store before an earlier upgrade: remove it with .*--remove-old/,
    )
  })

  test('waits for no reader of the old store: it is refused, and continues later', async () => {
    using folder = openFolder()
    makeLog(folder.data, [300])
    publishUpTo(folder.data, [310])
    const reader = openForReading(storePath(folder.data))
    reader.exec('BEGIN; SELECT key FROM meta')
    change(folder.data, (db) => db.exec(`PRAGMA user_version = ${SCHEMA_VERSION - 1}`))
    await assert.rejects(upgrade(folder.data), /another process reads the old store/)
    reader.close()
    assert.equal((await upgrade(folder.data))?.events, 310)
  })
})

suite('an upgrade on a small disk', () => {
  const folder = openFolder()
  mkdirSync(folder.path, { recursive: true })
  const works = succeeds('mount', '-t', 'tmpfs', '-o', `size=${SMALL_DISK}`, 'tmpfs', folder.path)
  const needed = 'a mount of tmpfs'
  const free = (): number => statfsSync(folder.path).bavail * statfsSync(folder.path).bsize
  const fill = (left: number): void =>
    writeFileSync(join(folder.path, 'filler'), new Uint8Array(free() - left))
  const empty = (): void => rmSync(join(folder.path, 'filler'), { force: true })
  test.after(() => {
    if (works) execFileSync('umount', [folder.path])
    folder[Symbol.dispose]()
  })

  test(
    'is refused with both figures before it builds anything',
    { skip: skipUnless(works, needed) },
    async () => {
      using elsewhere = openFolder()
      makeLongLog(elsewhere.data)
      copyLog(elsewhere.data, folder.data)
      await assert.rejects(upgrade(folder.data), /the upgrade needs \d+ MB of free disk, and \d+ MB are free/)
      assert.ok(readdirSync(folder.data).every((name) => !name.includes('upgrading')))
    },
  )

  test(
    'stops before the disk is full, so that a service can publish, and continues with room',
    { skip: skipUnless(works, needed) },
    async () => {
      execFileSync('mount', ['-o', `remount,size=${LARGE_DISK}`, folder.path])
      const onProgress = ({ stage }: UpgradeProgress): void => void (stage === 'events' && fill(500_000))
      await assert.rejects(upgrade(folder.data, { onProgress }), /the disk is nearly full/)
      empty()
      assert.equal(refusalAtStart(folder.data), undefined)
    },
  )

  test(
    'gives the disk back when it becomes full, and the old store is served',
    { skip: skipUnless(works, needed) },
    async () => {
      const onProgress = ({ stage }: UpgradeProgress): void => void (stage === 'events' && fill(2_500_000))
      rmSync(`${storePath(folder.data)}.upgrading`, { force: true })
      await assert.rejects(
        upgrade(folder.data, { onProgress }),
        /the disk was full, so the new store was removed/,
      )
      assert.ok(!readdirSync(folder.data).includes('daybook.db.upgrading'))
      empty()
      assert.equal(refusalAtStart(folder.data), undefined)
      assert.equal((await upgrade(folder.data))?.events, LONG_EVENTS)
    },
  )
})
