import { isFailing } from '../import-draft.ts'
import { addressIn, digestOf, openPretendChain, type PretendChain, SOLANA_FAILURE } from './pretend-chain.ts'

/** Moment of the first block of the demonstration's chain. */
const STARTED_AT: number = Date.UTC(2026, 0, 1)
const BLOCK_MS = 400
/** A block is final after four seconds. */
const FINAL_DEPTH = 10
/** Longest time from sending to the block. */
const LANDS_AFTER_MS_MAX = 8_000

/** Age of the transaction of a published event. */
const PUBLISHED_MS = 60_000
/** Decimals of the token. Its base unit is a billionth, as in the log. */
const TOKEN_DECIMALS = 9

/** Payments that the demonstration has published, for the chain. */
export type PublishedPayments = Readonly<{
  /** Whether a published event names the transaction. */
  names(tx: string): boolean
  /** Sum in billionths of the published payouts that name it. */
  paidIn(tx: string): bigint
}>

/** Pretend Solana chain of the demonstration. */
type DemoChain = Readonly<{
  chain: PretendChain
  /** Account that makes all payouts, and their token. */
  payer: string
  token: string
  /** Sends a transaction: it is final, or has failed, 4 to 13 seconds later. */
  send(tx: string): void
}>

/**
 * Opens the pretend chain of the demonstration, which a restart does not affect. An unknown transaction counts as
 * included at the first query, and is final four seconds later. That of a published event is final already. So the
 * chain also knows transactions of the history, of drafts held before a restart, and of a user's own drafts. A
 * transaction moves the sum of the published payouts that name it.
 */
export function openDemoChain(
  seed: string,
  now: () => number,
  published: PublishedPayments = { names: () => false, paidIn: () => 0n },
): DemoChain {
  const accountOf = (name: string): string => addressIn('solana', `${seed}/${name}`)
  const [payer, payee, token] = [accountOf('payer'), accountOf('players'), accountOf('token')]
  const errorOf = (tx: string): unknown => (isFailing(tx) ? SOLANA_FAILURE : null)
  const chain = openPretendChain({
    kind: 'solana',
    seed,
    now,
    startedAt: STARTED_AT,
    blockMs: BLOCK_MS,
    finalDepth: FINAL_DEPTH,
    tokens: { [token]: TOKEN_DECIMALS },
    transfersOf(tx) {
      const units = published.paidIn(tx)
      return units === 0n ? [] : [{ token, payer, payee, units }]
    },
    adopt: (tx) => ({
      sentAt: now() - (published.names(tx) ? PUBLISHED_MS : 2 * BLOCK_MS),
      error: errorOf(tx),
    }),
  })
  return {
    chain,
    payer,
    token,
    send(tx) {
      const [high = 0, low = 0] = digestOf(tx)
      chain.send(tx, { landsAfterMs: ((high * 256 + low) * LANDS_AFTER_MS_MAX) / 65_536, error: errorOf(tx) })
    },
  }
}
