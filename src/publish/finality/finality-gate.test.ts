import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { QUIET_QUEUE } from '../../../test/messages/quiet-queue.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import type { TxVerdict } from '../../chain/tx-verdict.ts'
import { openAppender } from '../../log/append.ts'
import type { HeldDraft } from '../../log/held/held-draft.ts'
import { openHeldTables } from '../../log/held/held-tables.ts'
import type { PublishedTxs } from '../../log/published-txs.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { ZERO } from '../../protocol/amount.ts'
import { msOf } from '../../protocol/moment.ts'
import { openCommitQueue } from '../commits/commit-queue.ts'
import { openEmbeddedPath } from '../commits/embedded-path.ts'
import type { FinalityGate } from './finality-gate.ts'
import { openFinalityGate } from './finality-gate.ts'
import type { FinalityReport } from './finality-report.ts'
import { GATE_PACE } from './finality-settings.ts'
import { openRecheck } from './recheck.ts'
import { openRpcBudgets } from './rpc-budgets.ts'

const now = () => msOf(0)
const monotonicMs = (): number => performance.now()

type GateSettings = Parameters<typeof openFinalityGate>[0]

/** A held draft that waits for the chain, without its number and its draft. */
const ASKED = {
  acceptedAt: now(),
  chain: 'asked',
  place: null,
  settledAt: null,
  vouch: null,
  reason: null,
} as const

/** A gate of a chain that knows nothing, with the real clock. */
function gateOf(
  signal: AbortSignal,
  given: Pick<GateSettings, 'queue' | 'recheck'> & Partial<GateSettings>,
): FinalityGate {
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal })
  return openFinalityGate({
    chain: 'solana',
    client: { identify: async () => 'the chain', ask: async () => [], moved: async () => null },
    amounts: null,
    budgets: openRpcBudgets({ urls: 1, requestsPerMinute: 600, monotonicMs, sleep: pause }),
    pace: GATE_PACE,
    keptChain: () => null,
    leads: () => true,
    now,
    monotonicMs,
    random: Math.random,
    sleep: pause,
    signal,
    tell: () => undefined,
    ...given,
  })
}

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
    const gate = gateOf(stop.signal, {
      queue: held,
      recheck: { step: () => assert.fail('nothing can be read'), leave: () => undefined },
    })
    await gate.identify()
    const running = gate.run().then(() => 'ended')
    await waits.promise
    stop.abort()
    assert.equal(await Promise.race([running, sleep(2_000, 'still waits', { ref: false })]), 'ended')
  })

  test('has no figures while another node asks, and tells them again when it asks itself', async () => {
    const draft = tradeDraft('waits', { tx: 'waiting' })
    const drafts: readonly HeldDraft[] = [{ ...ASKED, id: 1, ref: 'waits', draft }]
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(10_000)])
    const figures: string[] = []
    let leads = true
    const tell = (report: FinalityReport): void => {
      if (report.is === 'pending') figures.push(`${report.pending.count} pending`)
      if (report.is !== 'contradictions') return
      figures.push(`${report.count} contradictions`)
      leads = report.count === 0
      if (figures.length >= 6) stop.abort()
    }
    const own = {
      chain: 'solana',
      client: {
        identify: async () => 'the chain',
        ask: async (txs: readonly string[]): Promise<readonly TxVerdict[]> =>
          txs.map((tx) => ({ is: tx === 'gone' ? 'unknown' : 'waiting' })),
        moved: async () => null,
      },
      queue: {
        quiet: async () => undefined,
        asked: () => drafts,
        askedAbout: () => drafts,
        settle: () => assert.fail('nothing is final'),
        listSettled: () => [],
      },
      pace: { ...GATE_PACE, firstMs: 80, againMs: 0, roundMs: 0 },
      now,
      monotonicMs,
      signal,
      tell,
    } as const
    const published: PublishedTxs = {
      seqBefore: () => 0,
      after: () => ({ events: [{ seq: 7, tx: 'gone', vouched: false }], scannedTo: null }),
      paidIn: () => ZERO,
      hasPayment: () => false,
    }
    const gate = gateOf(signal, { ...own, recheck: openRecheck({ ...own, published }), leads: () => leads })
    await gate.identify()
    await gate.run()
    const led = ['1 pending', '1 contradictions']
    assert.deepEqual(figures, [...led, '0 pending', '0 contradictions', ...led])
  })
})
