import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { QUIET_QUEUE } from '../../../test/commits/quiet-queue.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import type { TxVerdict } from '../chain/tx-verdict.ts'
import { openAppender } from '../../log/append.ts'
import type { HeldDraft } from '../../log/held/held-draft.ts'
import { openHeldDrafts } from '../../publish/held-drafts.ts'
import type { PublishedTxs } from './published-txs.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { ZERO } from '../../protocol/amount.ts'
import { msOf } from '../../protocol/moment.ts'
import { openCommitQueue } from '../../publish/commit-queue.ts'
import { type FinalityGate, openFinalityGate } from './finality-gate.ts'
import type { FinalityReport } from './finality-report.ts'
import { GATE_PACE } from './finality-settings.ts'
import { openRecheck } from './recheck.ts'
import { openRpcBudgets } from '../rpc/rpc-budgets.ts'
import { openOwnPath } from '../../publish/commit-path.ts'

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
  given: Pick<GateSettings, 'heldCommands' | 'recheck'> & Partial<GateSettings>,
): FinalityGate {
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal })
  return openFinalityGate({
    chain: 'solana',
    client: {
      identify: async () => 'the chain',
      ask: async () => [],
      moved: async () => null,
      faults: () => [],
    },
    amounts: null,
    budgets: openRpcBudgets({ urls: 1, requestsPerMinute: 600, monotonicMs, sleep: pause }),
    pace: GATE_PACE,
    overdueMs: 3_600_000,
    keptChain: () => null,
    leads: () => true,
    now,
    monotonicMs,
    random: Math.random,
    sleep: pause,
    signal,
    notify: () => undefined,
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
      held: openHeldDrafts(db, true),
      path: { ...openOwnPath({ ...QUIET_QUEUE, appender }), isOpen },
      balances: 'refuse',
      now,
    })
    const stop = new AbortController()
    const gate = gateOf(stop.signal, {
      heldCommands: held,
      recheck: { step: () => assert.fail('nothing can be read'), leave: () => undefined },
    })
    await gate.identify()
    const running = gate.run().then(() => 'ended')
    await waits.promise
    stop.abort()
    assert.equal(await Promise.race([running, sleep(30_000, 'still waits', { ref: false })]), 'ended')
  })

  test('has no figures once another node has asked for a minute, and tells them again when it asks itself', async () => {
    const figures: string[] = []
    let leads = true
    const ranMs = await runWatched({
      leads: () => leads,
      onFigure(figure, stop) {
        figures.push(figure)
        if (figure.endsWith('contradictions')) leads = figure.startsWith('0')
        if (figures.length >= 6) stop()
      },
    })
    const led = ['1 pending', '1 contradictions']
    assert.deepEqual(figures, [...led, '0 pending', '0 contradictions', ...led])
    assert.ok(ranMs >= 60_000)
  })

  test('tells no contradiction that was answered while another node asked', async () => {
    const figures: string[] = []
    let [leads, isAnswered, asked] = [true, false, 0]
    await runWatched({
      published: 3,
      leads: () => leads,
      isAnswered: () => isAnswered,
      onFigure(figure) {
        figures.push(figure)
        if (figure === '1 contradictions') [leads, isAnswered] = [false, true]
        if (figure === '0 contradictions') leads = true
      },
      ask(txs, stop) {
        if (isAnswered && leads && txs.includes('tx 2') && ++asked > 3) stop()
      },
    })
    assert.deepEqual(figures, ['1 pending', '1 contradictions', '0 pending', '0 contradictions', '1 pending'])
  })

  test('asks what its round had not asked, also before a contradiction that stood', async () => {
    let leads = true
    const firsts: string[] = []
    await runWatched({
      published: 600,
      unknown: 'tx 500',
      leads: () => leads,
      onFigure(figure) {
        if (figure === '0 contradictions') leads = true
      },
      ask([first = ''], stop) {
        if (!first.startsWith('tx ')) return
        firsts.push(first)
        // The contradiction stands, and the second round has begun.
        if (firsts.length === 4) leads = false
        if (firsts.length === 5) stop()
      },
    })
    assert.deepEqual(firsts, ['tx 1', 'tx 257', 'tx 513', 'tx 1', 'tx 257'])
  })

  test('keeps its figures and its round when two nodes publish in turn and the lead flips', async () => {
    const figures: string[] = []
    const asked = new Set<string>()
    let looks = 0
    await runWatched({
      published: 2_000,
      leads: () => looks++ % 9 === 0,
      onFigure: (figure) => figures.push(figure),
      ask(txs, stop) {
        for (const tx of txs) asked.add(tx)
        if (asked.size > 2_000) stop()
      },
    })
    assert.equal(asked.size, 2_001)
    assert.deepEqual(figures, ['1 pending', '1 contradictions'])
  })

  test('has no figures either when it loses the lead while no server tells its chain', async () => {
    const figures: string[] = []
    await runWatched({
      chainId: null,
      leads: () => figures.length === 0,
      onFigure(figure, stop) {
        figures.push(figure)
        if (figures.length >= 2) stop()
      },
    })
    assert.deepEqual(figures, ['1 pending', '0 pending'])
  })
})

type Watch = Readonly<{
  /** Published transactions. */
  published?: number
  /** The published transaction that the chain does not know; the first by default. */
  unknown?: string
  /** Whether a correction has answered the first. */
  isAnswered?(): boolean
  chainId?: string | null
  leads(): boolean
  onFigure(figure: string, stop: () => void): void
  ask?(txs: readonly string[], stop: () => void): void
}>

/** Runs a gate with one waiting draft, by a clock that only sleep moves, until it is stopped. Returns the time at the end. */
async function runWatched({
  published = 1,
  unknown = 'tx 1',
  chainId = 'the chain',
  isAnswered = () => false,
  leads,
  ...watch
}: Watch): Promise<number> {
  const draft = tradeDraft('waits', { tx: 'waiting' })
  const drafts: readonly HeldDraft[] = [{ ...ASKED, id: 1, ref: 'waits', draft }]
  const ended = new AbortController()
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(10_000)])
  const stop = (): void => ended.abort()
  let clockMs = 0
  const own = {
    chain: 'solana',
    client: {
      identify: async () => chainId,
      ask: async (txs: readonly string[]): Promise<readonly TxVerdict[]> => {
        watch.ask?.(txs, stop)
        return txs.map((tx) => ({ is: tx === unknown ? 'unknown' : 'waiting' }))
      },
      moved: async () => null,
      faults: () => [],
    },
    heldCommands: {
      quiet: async () => undefined,
      asked: () => drafts,
      askedAbout: () => drafts,
      settle: () => assert.fail('nothing is final'),
      listEnded: () => [],
    },
    pace: { ...GATE_PACE, firstMs: 80, againMs: 0, roundMs: 0 },
    now,
    monotonicMs: () => clockMs,
    signal,
    async sleep(ms: number): Promise<void> {
      clockMs += ms
      // A timer of the test can end the gate.
      await nextTurn(undefined, { signal })
    },
    notify(report: FinalityReport): void {
      if (report.is === 'pending') watch.onFigure(`${report.pending.count} pending`, stop)
      if (report.is === 'contradictions') watch.onFigure(`${report.count} contradictions`, stop)
    },
  } as const
  const recheck = openRecheck({ ...own, published: publishedTxs(published, isAnswered) })
  const gate = gateOf(signal, { ...own, recheck, leads })
  await gate.identify()
  await gate.run()
  return clockMs
}

/** Transactions of so many published events, without the first once it is answered. */
function publishedTxs(count: number, isAnswered: () => boolean): PublishedTxs {
  return {
    seqBefore: () => 0,
    after(seq, max) {
      const last = Math.min(seq + max, count)
      const events = Array.from({ length: last - seq }, (_, index) => {
        const at = seq + index + 1
        return { seq: at, tx: `tx ${at}`, vouched: false }
      }).filter((event) => event.seq > 1 || !isAnswered())
      return { events, scannedTo: last === count ? null : last }
    },
    paidIn: () => ZERO,
    hasPayment: () => false,
  }
}
