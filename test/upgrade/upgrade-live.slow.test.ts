import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../src/log/store/store-schema.ts'
import {
  hasStore,
  isSimulatedLog,
  readIdentity,
  storePath,
  writeIdentity,
} from '../../src/log/store/store.ts'
import { openRefs } from '../../src/log/store/refs.ts'
import type { SigningKey } from '../../src/log/tree/signer.ts'
import { holdsRealLog, upgradeDemo } from '../../src/command/demo/demo-command.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { openSharedClock } from '../../src/publish/writer/shared-clock.ts'
import type { UpgradeProgress } from '../../src/publish/upgrade/upgrade.ts'
import { unpackKept } from '../books/kept-store.ts'
import { manualContext, postDrafts, startLocalNode } from '../stage/manual-node.ts'
import { readLines, startNode } from '../stage/node-process.ts'
import { openFolder, makeLog, NEW_LOG } from '../story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY } from '../story/signing.ts'
import { assertSameStores, keptStoreOf, upgrade } from './upgrade-stage.ts'

const NOW = msOf(Date.UTC(2030, 0, 1))
const EVENTS = 2_000

/** A service on a log, at a fixed moment, and a function that publishes one draft and gives its seq. */
async function startOn(data: string, keys: readonly SigningKey[]) {
  const clock = openSharedClock()
  clock.set(NOW)
  const service = await startLocalNode(data, NEW_LOG, keys, clock)
  return {
    service,
    publish: async (ref: string): Promise<number> => {
      const answer = await postDrafts(service, [{ ref, type: 'trade', kind: 'buy', kots: '2' }])
      assert.equal(answer.status, 200, await answer.clone().text())
      return ((await answer.json()) as { drafts: { seq: number }[] }).drafts[0]?.seq ?? 0
    },
    stop: () => service[Symbol.asyncDispose](),
  }
}

suite('an upgrade beside a service', () => {
  test('has every event that is published meanwhile, when the service has stopped', async () => {
    using folder = openFolder()
    makeLog(folder.data, [1_000, EVENTS])
    const { publish, stop } = await startOn(folder.data, [TEST_KEY])
    const seqs = new Map<string, number>()
    const running = { waits: 0 }
    const publishing = (async () => {
      for (let number = 1; running.waits < 3; number += 1)
        seqs.set(`live-${number}`, await publish(`live-${number}`))
      await stop()
    })()
    const onProgress = ({ stage }: UpgradeProgress): void =>
      void (running.waits += stage === 'waiting' ? 1 : 0)
    const report = await upgrade(folder.data, { waitMs: 60_000, onProgress })
    await publishing
    assert.equal(report?.events, EVENTS + seqs.size)
    assertSameStores(storePath(folder.data), keptStoreOf(folder.data, SCHEMA_VERSION))
    using refs = openRefs(folder.data)
    for (const [ref, seq] of seqs) assert.equal(refs.seqOf(ref), seq)
    assert.ok(seqs.size >= 3)
  })

  test('carries the newest signature over that a change of keys has replaced', async () => {
    using folder = openFolder()
    makeLog(folder.data, [EVENTS])
    const stop = new AbortController()
    const onProgress = ({ stage }: UpgradeProgress): void => void (stage === 'comparing' && stop.abort())
    await assert.rejects(upgrade(folder.data, { signal: stop.signal, onProgress }))
    // The start signs the newest tree again, because another key joins.
    const both = await startOn(folder.data, [TEST_KEY, OTHER_KEY])
    await both.publish('signed-by-both')
    await both.stop()
    await upgrade(folder.data)
    assertSameStores(storePath(folder.data), keptStoreOf(folder.data, SCHEMA_VERSION))
  })

  test('of an empty log leaves an empty log', async () => {
    using folder = openFolder()
    makeLog(folder.data, [])
    await upgrade(folder.data)
    assertSameStores(storePath(folder.data), keptStoreOf(folder.data, SCHEMA_VERSION))
    const empty = await startOn(folder.data, [TEST_KEY])
    assert.equal(await empty.publish('first'), 1)
    await empty.stop()
  })
})

suite('`serve --upgrade`', () => {
  test('upgrades an older store, and serves it', async () => {
    using kept = unpackKept(OLDEST_SCHEMA)
    const node = await startNode(kept.data, ['--upgrade', '--chain', 'solana'])
    const lines = await readLines(node.url, 4_480)
    assert.equal(lines.length, 4)
    assert.equal((await node.end('SIGTERM')).code, 0)
  })
})

suite('the demonstration', () => {
  test('upgrades its own store, and leaves the store of a real log alone', async () => {
    using kept = unpackKept(OLDEST_SCHEMA)
    assert.ok(hasStore(kept.data) && holdsRealLog(kept.data))
    const db = new DatabaseSync(storePath(kept.data))
    writeIdentity(db, { ...readIdentity(db), simulated: true })
    db.close()
    assert.ok(!holdsRealLog(kept.data))
    await upgradeDemo(
      kept.data,
      manualContext(() => NOW),
    )
    assert.ok(isSimulatedLog(kept.data))
    assert.equal(await upgrade(kept.data, { rebuild: false }), null)
  })
})
