import type { ChainClient, MovedAmount, TokenAccount, TxVerdict } from '../chain/tx-verdict.ts'
import type { NamedTransaction } from './named-transactions.ts'

/** Transactions in one question to the chain. */
const BATCH_TRANSACTIONS = 50
/** Waits before each query about a transaction without a definite answer. Servers pause after a rate limit. */
const WAITS_MS = [0, 2_000, 5_000, 15_000, 30_000] as const
/** Most queries about a transaction that is unknown or not final. A server may be behind for some seconds. */
const LATE_ATTEMPTS = 3

/** Named transaction with the chain's verdict. */
export type AskedTransaction = NamedTransaction &
  Readonly<{
    verdict: TxVerdict
    /** Amount that the payer moved; null when it is unknown or was not asked for. */
    moved: MovedAmount | null
  }>

export type TransactionLookup = Readonly<{
  client: ChainClient
  /** Null when amounts are not compared. */
  account: TokenAccount | null
  pause(ms: number): Promise<void>
  onProgress(done: number, total: number): void
}>

/**
 * Asks the chain about each transaction in order, repeatedly until it is settled. Server faults leave a transaction
 * `unsure`. Throws only the reason of the client's signal.
 */
export async function askTransactions(
  { client, account, pause, onProgress }: TransactionLookup,
  named: readonly NamedTransaction[],
): Promise<readonly AskedTransaction[]> {
  const verdicts = new Map<string, TxVerdict>()
  const isPaying = ({ tx, paid }: NamedTransaction): boolean =>
    account !== null && paid > 0n && verdicts.get(tx)?.is === 'final'
  const steps = named.length + (account === null ? 0 : named.filter(({ paid }) => paid > 0n).length)
  for (const [attempt, waitMs] of WAITS_MS.entries()) {
    const open = named.map(({ tx }) => tx).filter((tx) => isOpen(verdicts.get(tx), attempt))
    if (open.length === 0) break
    if (waitMs > 0) await pause(waitMs)
    for (let from = 0; from < open.length; from += BATCH_TRANSACTIONS) {
      const batch = open.slice(from, from + BATCH_TRANSACTIONS)
      const found = await client.ask(batch)
      for (const [index, tx] of batch.entries()) verdicts.set(tx, found[index] ?? { is: 'unsure' })
      onProgress(verdicts.size, steps)
    }
  }
  const moved = new Map<string, MovedAmount | null>()
  for (const { tx } of named.filter(isPaying)) {
    if (account === null) break
    moved.set(tx, (await client.moved(tx, account)) ?? (await client.moved(tx, account)))
    onProgress(named.length + moved.size, steps)
  }
  return named.map((one) => ({
    ...one,
    verdict: verdicts.get(one.tx) ?? { is: 'unsure' },
    moved: moved.get(one.tx) ?? null,
  }))
}

function isOpen(verdict: TxVerdict | undefined, attempt: number): boolean {
  switch (verdict?.is) {
    case 'final':
    case 'failed':
      return false
    case 'waiting':
    case 'unknown':
      return attempt < LATE_ATTEMPTS
    case 'unsure':
    case undefined:
      return true
  }
}
