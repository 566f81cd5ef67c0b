import type { ChainClient, TxVerdict } from '../chain/tx-verdict.ts'
import type { HeldCommands } from '../../publish/held-commands.ts'
import type { PublishedTxs } from './published-txs.ts'
import { boundOf, DAY_MS, type Ms } from '../../protocol/moment.ts'
import type { FinalityReport } from './finality-report.ts'
import type { AskedChain, GatePace } from './finality-settings.ts'
import { pollSize } from './poll-size.ts'
import type { RpcBudgets } from '../rpc/rpc-budgets.ts'

/** Repeats queries to the chain about published, dropped and failed drafts, with the budget that held drafts leave. */
export type Recheck = Readonly<{
  /** Asks about the next transactions, unless it is too early or too little of the budget is left. */
  step(budgets: RpcBudgets): Promise<void>
  /**
   * Clears the reported contradictions, because another node now asks and reports its own. The next step continues the
   * round, or begins before the first contradiction, which may be resolved by then.
   */
  leave(): void
}>

type RecheckSettings = Readonly<{
  chain: AskedChain
  client: ChainClient
  published: PublishedTxs
  heldCommands: Pick<HeldCommands, 'quiet' | 'listEnded'>
  pace: GatePace
  now(): Ms
  monotonicMs(): number
  signal: AbortSignal
  notify(report: FinalityReport): void
}>

/** Age up to which transactions of published events, and of dropped and failed drafts, are asked about again. */
const PUBLISHED_MS: number = 30 * DAY_MS
const ENDED_MS: number = 90 * DAY_MS
/** Transactions of one step: one request to Solana, about twenty to an EVM chain. */
const TXS_MAX: Readonly<Record<AskedChain, number>> = { solana: 256, evm: 10 }
/** Most settled drafts of one step. */
const SETTLED_MAX = 500
/** Part of the budget that must be left. */
const LEFT_PART = 1 / 2
/** Contradictions that are remembered. */
const STANDING_MAX = 10_000

/** Transaction to ask about again. `name` describes the decision about it. */
type Target = Readonly<{
  name: string
  tx: string
  decided: 'published' | 'vouched' | 'ended'
  before: Place
}>

/** Parts of a round: the events, by seq, then the drafts that will never be published, by id. */
const PARTS = ['published', 'dropped', 'failed'] as const
type Place = Readonly<{ in: (typeof PARTS)[number]; after: number }>

/** Opens the repeated queries about decisions. */
export function openRecheck(settings: RecheckSettings): Recheck {
  const { client, published, pace, notify } = settings
  let place: Place | null = null
  let nextMs = settings.monotonicMs() + pace.againMs
  /** Current contradictions, and those that this round has found, each with the place before it. */
  let standing = new Map<string, Place>()
  let found = new Map<string, Place>()
  let reported = 0

  function notifyCount(count: number): void {
    if (count !== reported) notify({ is: 'contradictions', count })
    reported = count
  }

  function judge(target: Target, verdict: TxVerdict): void {
    const { name, before } = target
    const reason = contradictionOf(target, verdict)
    // Without an answer that counts, a contradiction stands.
    if (reason === null && !(verdict.is === 'unsure' && standing.has(name))) return
    if (found.size >= STANDING_MAX) return
    found.set(name, before)
    if (reason === null || standing.has(name)) return
    standing.set(name, before)
    notify({ is: 'contradiction', of: name, reason })
    notifyCount(standing.size)
  }

  /**
   * Ends a round. Drops contradictions that it has not found again: the chain agrees now, or a publication resolves
   * them.
   */
  function endRound(): void {
    standing = found
    found = new Map()
    notifyCount(standing.size)
  }

  return {
    async step(budgets) {
      if (settings.monotonicMs() < nextMs || budgets.left() < budgets.burst * LEFT_PART) return
      await settings.heldCommands.quiet(settings.signal)
      const begin = (): Place => ({
        in: 'published',
        after: published.seqBefore(boundOf(settings.now() - PUBLISHED_MS)),
      })
      const max = Math.min(TXS_MAX[settings.chain], pollSize(settings.chain, budgets.left()))
      const { targets, next } = targetsAt(settings, place ?? begin(), max)
      place = next
      const txs = [...new Set(targets.map(({ tx }) => tx))]
      const verdicts = txs.length === 0 ? [] : await client.ask(txs)
      const verdictOf = new Map(txs.map((tx, index) => [tx, verdicts[index] ?? { is: 'unsure' as const }]))
      for (const target of targets) judge(target, verdictOf.get(target.tx) ?? { is: 'unsure' })
      if (place === null) endRound()
      nextMs = settings.monotonicMs() + (place === null ? pace.roundMs : pace.againMs)
    },
    leave() {
      if (standing.size > 0) nextMs = settings.monotonicMs()
      // The round's own place may be before the first of them.
      const places = [...standing.values(), ...(place === null ? [] : [place])]
      place = places.toSorted(inOrder)[0] ?? null
      standing = new Map()
      found = new Map()
      notifyCount(0)
    },
  }
}

/** Order of two places of a round. */
function inOrder(a: Place, b: Place): number {
  return PARTS.indexOf(a.in) - PARTS.indexOf(b.in) || a.after - b.after
}

/** Transactions at a place of the round, and the next place; null at the end. */
function targetsAt(
  { published, heldCommands, now }: RecheckSettings,
  place: Place,
  max: number,
): Readonly<{ targets: readonly Target[]; next: Place | null }> {
  if (place.in === 'published') {
    const { events, scannedTo } = published.after(place.after, max)
    const targets = events.map(({ seq, tx, vouched }): Target => {
      const before = { in: 'published', after: seq - 1 } as const
      return { name: `event ${seq}`, tx, decided: vouched ? 'vouched' : 'published', before }
    })
    return { targets, next: scannedTo === null ? partAfter(place) : { in: 'published', after: scannedTo } }
  }
  const state = place.in
  const drafts = heldCommands.listEnded(state, place.after, SETTLED_MAX)
  const since = now() - ENDED_MS
  const recent = drafts.filter(({ settledAt }) => settledAt >= since).slice(0, max)
  const last = (recent.length === max ? recent : drafts).at(-1)?.id
  const targets = recent.flatMap(({ id, draft }): readonly Target[] =>
    draft.tx === null || published.hasPayment(draft)
      ? []
      : [
          {
            name: `${state} draft ${id}`,
            tx: draft.tx,
            decided: 'ended',
            before: { in: state, after: id - 1 },
          },
        ],
  )
  return { targets, next: last === undefined ? partAfter(place) : { in: state, after: last } }
}

/** Beginning of the next part of a round; null after the last one. */
function partAfter(place: Place): Place | null {
  const next = PARTS[PARTS.indexOf(place.in) + 1]
  return next === undefined ? null : { in: next, after: 0 }
}

/** Reason why the chain contradicts a decision; null when it does not. */
function contradictionOf({ decided }: Target, verdict: TxVerdict): string | null {
  switch (verdict.is) {
    case 'final':
      return decided === 'ended' ? `its transaction is final, ${verdict.place}` : null
    case 'failed':
      return decided === 'ended' ? null : `its transaction failed, ${verdict.place}`
    case 'unknown':
      // The operator vouches where the servers do not know a transaction.
      return decided === 'published' ? 'the servers do not know its transaction' : null
    case 'waiting':
    case 'unsure':
      return null
  }
}
