import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { QUIET_QUEUE } from '../../../test/messages/quiet-queue.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { openAppender } from '../../log/append.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { msOf } from '../../protocol/moment.ts'
import { openCommitQueue } from '../commits/commit-queue.ts'
import { openEmbeddedPath } from '../commits/embedded-path.ts'
import { openFinalityGate } from './finality-gate.ts'
import { GATE_PACE } from './finality-settings.ts'
import { openRpcBudgets } from './rpc-budgets.ts'

const now = () => msOf(0)
const monotonicMs = (): number => performance.now()

suite('the gate that asks the chain', () => {
  test('ends at a stop, also while a commit is open that has no end yet', async () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    const appender = openAppender(db, testSigner(db))
    const waits = Promise.withResolvers<boolean>()
    const isOpen = (): boolean => {
      waits.resolve(true)
      return true
    }
    const { held } = openCommitQueue({
      ...QUIET_QUEUE,
      appender,
      tables: openHeldTables(db),
      path: { ...openEmbeddedPath({ ...QUIET_QUEUE, appender }), isOpen },
      asksChain: true,
      balances: 'refuse',
      now,
    })
    const stop = new AbortController()
    const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stop.signal })
    const gate = openFinalityGate({
      chain: 'solana',
      client: { identify: async () => 'the chain', ask: async () => [], moved: async () => null },
      queue: held,
      amounts: null,
      recheck: { step: () => assert.fail('nothing can be read') },
      budgets: openRpcBudgets({ urls: 1, requestsPerMinute: 600, monotonicMs, sleep: pause }),
      pace: GATE_PACE,
      keptChain: () => null,
      leads: () => true,
      now,
      monotonicMs,
      random: Math.random,
      sleep: pause,
      signal: stop.signal,
      tell: () => undefined,
    })
    await gate.identify()
    const running = gate.run().then(() => 'ended')
    await waits.promise
    stop.abort()
    assert.equal(await Promise.race([running, sleep(2_000, 'still waits', { ref: false })]), 'ended')
  })
})
