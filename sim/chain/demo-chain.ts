import { isFailing } from '../import-draft.ts'
import type { PretendChain } from './pretend-chain.ts'
import { digestOf, openPretendChain, SOLANA_FAILURE } from './pretend-chain.ts'

/** Moment of the first block of the demonstration's chain. */
const STARTED_AT: number = Date.UTC(2026, 0, 1)
const BLOCK_MS = 400
/** A block is final after four seconds. */
const FINAL_DEPTH = 10
/** Longest time from sending to the block. */
const LANDS_AFTER_MS_MAX = 8_000

/** Age of the transaction of a published event. */
const PUBLISHED_MS = 60_000

/** Pretend Solana chain of the demonstration. */
type DemoChain = Readonly<{
  chain: PretendChain
  /** Sends a transaction: it is final, or has failed, 4 to 13 seconds later. */
  send(tx: string): void
}>

/**
 * Opens the pretend chain of the demonstration. It has no state that a restart could lose: every transaction that it is
 * asked for and does not know counts as included just now, and is final four seconds later; that of a published event is
 * final already. So it also knows those of the history, those that wait since before a restart, and those that a user
 * sends by hand.
 */
export function openDemoChain(
  seed: string,
  now: () => number,
  isPublished: (tx: string) => boolean = () => false,
): DemoChain {
  const errorOf = (tx: string): unknown => (isFailing(tx) ? SOLANA_FAILURE : null)
  const chain = openPretendChain({
    kind: 'solana',
    seed,
    now,
    startedAt: STARTED_AT,
    blockMs: BLOCK_MS,
    finalDepth: FINAL_DEPTH,
    adopt: (tx) => ({ sentAt: now() - (isPublished(tx) ? PUBLISHED_MS : 2 * BLOCK_MS), error: errorOf(tx) }),
  })
  return {
    chain,
    send(tx) {
      const [high = 0, low = 0] = digestOf(tx)
      chain.send(tx, { landsAfterMs: ((high * 256 + low) * LANDS_AFTER_MS_MAX) / 65_536, error: errorOf(tx) })
    },
  }
}
