import assert from 'node:assert/strict'
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { HIGH_WATER_FILE, readHighWater } from '../../src/log/store/high-water.ts'
import { openReader } from '../../src/log/open-reader.ts'
import { nameOfLog, openSignatures } from '../../src/log/tree/ready-log.ts'
import type { LogIdentity } from '../../src/log/store/reader.ts'
import { openForReading, openForWriting, readStoreIdentity, storePath } from '../../src/log/store/store.ts'
import { openCheckpoint } from '../../src/tlog/checkpoint.ts'
import { isSigned, verifierKeyOf, verifyRawEd25519 } from '../../src/log/tree/signer.ts'
import { openStoredTree } from '../../src/log/tree/stored-tree.ts'
import {
  runBackup,
  runCheck,
  makeLog,
  NEW_LOG,
  openFolder,
  publishUpTo,
  refusalAtStart,
  SIGNING,
} from '../story/damaged-log.ts'
import { TEST_KEY } from '../story/signing.ts'

const ACCEPT = { ...SIGNING, acceptLoss: true }

/** The newest checkpoint of the log, verified with the key under its current origin. */
async function checkpointOf(data: string): Promise<Readonly<{ origin: string; size: number }>> {
  const log = openReader(data, null)
  try {
    const { origin } = log.identity
    const keys = [verifierKeyOf(origin, TEST_KEY.publicKey)]
    const note = log.snapshot(({ tree }) => tree.checkpoint())
    const opened = await openCheckpoint(Buffer.from(note), { origin, keys }, verifyRawEd25519)
    assert.ok(opened.ok, 'the log’s checkpoint is signed under its own origin')
    return { origin, size: opened.value.checkpoint.size }
  } finally {
    log.close()
  }
}

/** Whether the stored signature of the tree of this size was made under the given origin. */
function isSignedBy(data: string, origin: string, size: number): boolean {
  const db = openForReading(storePath(data))
  try {
    const keys = [verifierKeyOf(origin, TEST_KEY.publicKey)]
    return isSigned(origin, openStoredTree(db).at(size), openSignatures(db)(size), keys)
  } finally {
    db.close()
  }
}

function identityOf(data: string): LogIdentity {
  return readStoreIdentity(data)
}

/** Restores a copy of a store in a directory, as `docs/backups.md` says. */
function restore(copy: string, data: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(`${storePath(data)}${suffix}`, { force: true })
  copyFileSync(copy, storePath(data))
}

async function backedUp(data: string, to: string): Promise<void> {
  const { code, said } = await runBackup(data, to)
  assert.equal(code, 0, said)
}

suite('a backup', () => {
  test('is refused beside the write-ahead log of the store that it replaces', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 200])
    const copy = join(folder.path, 'copy.db')
    await backedUp(data, copy)
    // The files of a killed service.
    const killed = join(folder.path, 'killed')
    const open = openForWriting(storePath(data))
    publishUpTo(data, [260])
    cpSync(data, killed, { recursive: true })
    open.close()
    copyFileSync(copy, storePath(killed))
    const said = /daybook\.db-wal belongs to another store/
    assert.match(refusalAtStart(killed) ?? '', said)
    await assert.rejects(runCheck(killed), said)
    rmSync(`${storePath(killed)}-wal`)
    rmSync(`${storePath(killed)}-shm`)
    assert.match(refusalAtStart(killed) ?? '', /^seq 201: the log ends at seq 200/)
  })

  test('is refused when its state is older, and `--accept-loss` begins a new log with it', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [3, 10])
    const copy = join(folder.path, 'copy.db')
    await backedUp(data, copy)
    publishUpTo(data, [12, 20])
    const former = identityOf(data)
    restore(copy, data)
    for (let starts = 0; starts < 2; starts += 1) {
      assert.match(
        refusalAtStart(data) ?? '',
        /^seq 11: the log ends at seq 10 but was published up to seq 20/,
      )
    }
    const { code, said } = await runCheck(data)
    assert.equal(code, 1)
    assert.match(said, /^seq 11: /m)
    assert.deepEqual(identityOf(data), former, 'a refusal changes nothing')

    assert.equal(refusalAtStart(data, ACCEPT), undefined)
    const begun = identityOf(data)
    assert.notEqual(begun.id, former.id)
    assert.equal(begun.origin, `${NEW_LOG.origin}/${begun.id.slice(0, 8)}`)
    assert.deepEqual(begun.former, [{ id: former.id, origin: former.origin, size: 10 }])
    assert.deepEqual(await checkpointOf(data), { origin: begun.origin, size: 10 })
    assert.equal(refusalAtStart(data), undefined, 'a start without the flag works')
    assert.match(refusalAtStart(data, ACCEPT) ?? '', /has lost nothing/)

    publishUpTo(data, [15, 25])
    assert.equal(refusalAtStart(data), undefined)
    assert.deepEqual(await checkpointOf(data), { origin: begun.origin, size: 25 })
    for (const size of [10, 15, 25]) {
      assert.ok(isSignedBy(data, begun.origin, size))
      assert.ok(!isSignedBy(data, former.origin, size), `the old origin has not signed size ${size} again`)
    }
    assert.ok(isSignedBy(data, former.origin, 3), 'its earlier signatures are still valid')
    const after = await runCheck(data)
    assert.equal(after.code, 0, after.said)
  })

  test('may be restored again and again, and each loss makes another log', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [5])
    const origins = new Set([identityOf(data).origin])
    for (let losses = 1; losses <= 3; losses += 1) {
      const copy = join(folder.path, `copy-${losses}.db`)
      await backedUp(data, copy)
      publishUpTo(data, [10 * losses])
      restore(copy, data)
      assert.match(refusalAtStart(data) ?? '', /an older copy or was cut/)
      assert.equal(refusalAtStart(data, ACCEPT), undefined)
      publishUpTo(data, [10 * losses + 5])
      const { origin, former } = identityOf(data)
      assert.equal(former.length, losses)
      assert.match(origin, /^daybook\.test\/log\/[0-9a-f]{8}$/)
      origins.add(origin)
    }
    assert.equal(origins.size, 4)
    assert.equal(refusalAtStart(data), undefined)
    const { code, said } = await runCheck(data)
    assert.equal(code, 0, said)
  })

  test('makes another log when it is from before an accepted loss, never the old log', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [5])
    const oldest = join(folder.path, 'oldest.db')
    await backedUp(data, oldest)
    publishUpTo(data, [8])
    const copy = join(folder.path, 'copy.db')
    await backedUp(data, copy)
    publishUpTo(data, [12])
    restore(copy, data)
    assert.equal(refusalAtStart(data, ACCEPT), undefined)
    publishUpTo(data, [30])
    const second = identityOf(data)
    restore(oldest, data)
    assert.match(refusalAtStart(data) ?? '', /^seq 6: the store is a copy from before a loss was accepted/)
    assert.equal(refusalAtStart(data, ACCEPT), undefined)
    const third = identityOf(data)
    assert.deepEqual(third.former, [
      { id: second.former[0]?.id, origin: NEW_LOG.origin, size: 5 },
      { id: second.id, origin: second.origin, size: 5 },
    ])
    assert.equal(refusalAtStart(data), undefined)
    publishUpTo(data, [9])
    assert.equal((await checkpointOf(data)).origin, third.origin)
    assert.equal((await runCheck(data)).code, 0)
  })

  test('can be started after a crash between its acceptance and the mark', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [5])
    const copy = join(folder.path, 'copy.db')
    await backedUp(data, copy)
    publishUpTo(data, [9])
    const mark = readFileSync(join(data, HIGH_WATER_FILE))
    restore(copy, data)
    assert.equal(refusalAtStart(data, ACCEPT), undefined)
    const { id } = identityOf(data)
    writeFileSync(join(data, HIGH_WATER_FILE), mark)
    assert.equal(refusalAtStart(data), undefined)
    assert.equal(identityOf(data).id, id)
    assert.equal(readHighWater(data)?.log, id)
  })
})

suite('a lost store', () => {
  test('is refused if its high-water mark exists, and `--accept-loss` begins a new log', async () => {
    using folder = openFolder()
    const { data } = folder
    makeLog(data, [5, 9])
    const former = identityOf(data)
    rmSync(storePath(data))
    assert.match(refusalAtStart(data) ?? '', /^the store is gone/)
    assert.equal(existsSync(storePath(data)), false, 'nothing was made')
    assert.equal(refusalAtStart(data, ACCEPT), undefined)
    const begun = identityOf(data)
    assert.notEqual(begun.id, former.id)
    assert.equal(begun.origin, `${NEW_LOG.origin}/${begun.id.slice(0, 8)}`)
    assert.deepEqual(begun.former, [{ id: former.id, origin: former.origin, size: 0 }])
    assert.deepEqual(await checkpointOf(data), { origin: begun.origin, size: 0 })
    assert.equal(refusalAtStart(data), undefined)
    publishUpTo(data, [2, 7])
    assert.equal(refusalAtStart(data), undefined)
    assert.deepEqual(await checkpointOf(data), { origin: begun.origin, size: 7 })
    assert.equal((await runCheck(data)).code, 0)
  })

  test('keeps the log’s first name through several losses', () => {
    using folder = openFolder()
    const { data } = folder
    const name = 'daybook.test/named'
    makeLog(data, [5], { ...NEW_LOG, origin: name })
    const origins: string[] = []
    for (let losses = 1; losses <= 2; losses += 1) {
      rmSync(storePath(data))
      // The default name of a new log, which is not needed after a loss.
      assert.equal(refusalAtStart(data, ACCEPT), undefined)
      publishUpTo(data, [losses])
      const identity = identityOf(data)
      assert.equal(nameOfLog(identity), name)
      assert.equal(identity.origin, `${name}/${identity.id.slice(0, 8)}`)
      assert.equal(identity.former[0]?.origin, origins.at(-1) ?? name)
      origins.push(identity.origin)
    }
  })

  test('cannot be accepted as lost if it never existed, and nothing is made', () => {
    using folder = openFolder()
    assert.match(refusalAtStart(folder.data, ACCEPT) ?? '', /has lost nothing/)
    assert.equal(existsSync(storePath(folder.data)), false)
  })
})
