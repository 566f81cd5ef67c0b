import type { ChainKind, Fate } from '../../sim/chain/chain-settings.ts'
import { openPretendChain, type PretendChain, SOLANA_FAILURE } from '../../sim/chain/pretend-chain.ts'
import type { Random } from '../../sim/random.ts'

/**
 * Fate of a transaction. `moved`: a reorganisation puts it into another block, where it is final. `gone`: a
 * reorganisation takes it out for ever. `never`: no block includes it. `late`: it is included after some seconds, and
 * the operator may vouch for it before.
 */
export type PaymentFate = 'final' | 'moved' | 'failed' | 'gone' | 'never' | 'late'

/** Whether a payment with this fate takes place. */
export const takesPlace = (fate: PaymentFate): boolean =>
  fate === 'final' || fate === 'moved' || fate === 'late'

/** A chain whose clock is the real one, and what becomes of each transaction that was sent to it. */
export type PaymentChain = Readonly<{
  chain: PretendChain
  fates: ReadonlyMap<string, PaymentFate>
  /** Sends a new transaction. A fate is drawn unless it is given. */
  send(random: Random, fate?: PaymentFate): Readonly<{ tx: string; fate: PaymentFate }>
}>

const BLOCK_MS = 20
/** A block is final 160 ms after it. */
const FINAL_DEPTH = 8
const LANDS_AFTER_MS_MAX = 250
/** From its block to the reorganisation that takes a transaction out. */
const REORG_AFTER_MS = 60
const LATE_MS = 1_500

/** One in ten is dropped, one in ten fails, one in twenty moves to another block. */
const WEIGHTS: readonly (readonly [PaymentFate, number])[] = [
  ['final', 73],
  ['moved', 5],
  ['failed', 10],
  ['gone', 4],
  ['never', 6],
  ['late', 2],
]

export function openPaymentChain(kind: ChainKind, seed: string): PaymentChain {
  const chain = openPretendChain({
    kind,
    seed,
    now: Date.now,
    blockMs: BLOCK_MS,
    finalDepth: FINAL_DEPTH,
    finalStep: 1,
    confirmDepth: 2,
    startedAt: Date.now() - 60_000,
  })
  const fates = new Map<string, PaymentFate>()
  return {
    chain,
    fates,
    send(random, given) {
      const fate = given ?? random.weighted(WEIGHTS)
      const tx = chain.txOf(fates.size + 1)
      fates.set(tx, fate)
      chain.send(tx, courseOf(fate, random))
      return { tx, fate }
    },
  }
}

function courseOf(fate: PaymentFate, random: Random): Fate {
  const landsAfterMs = random.below(LANDS_AFTER_MS_MAX)
  switch (fate) {
    case 'final':
      return { landsAfterMs }
    case 'moved':
      return { landsAfterMs, reorg: { afterMs: REORG_AFTER_MS, againAfterMs: random.below(200) } }
    case 'failed':
      return { landsAfterMs, error: SOLANA_FAILURE }
    case 'gone':
      return { landsAfterMs, reorg: { afterMs: REORG_AFTER_MS, againAfterMs: null } }
    case 'never':
      return { landsAfterMs: null }
    case 'late':
      return { landsAfterMs: LATE_MS }
  }
}
