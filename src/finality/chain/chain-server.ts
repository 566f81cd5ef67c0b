import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcPeer } from '../rpc/rpc-peer.ts'
import type { MovedAmount, TokenAccount, Vote } from './tx-verdict.ts'

/** Amount that one server reports as moved, and the place of the transaction. Both must agree between servers. */
export type MovedVote = MovedAmount & Readonly<{ place: string }>

/**
 * Takes the vote about the transaction with this index. `head` is the server's progress at that time: the newest slot
 * of Solana, or the number of the finalized block.
 */
type PutVote = (at: number, vote: Vote, head: number) => void

/** Queries to one RPC server of one chain. All functions throw `RpcFailure`, or the reason of the signal. */
export type ChainServer = Readonly<{
  rpc: RpcPeer
  /** Genesis hash or chain id. Fails with `no-finality` for an EVM server without a finalized block. */
  identity: () => Promise<string>
  /** Votes on each transaction by its index. A failure leaves the rest without a vote. */
  vote: (txs: readonly string[], put: PutVote) => Promise<void>
  /** Null when the answer cannot be counted. */
  moved: (tx: string, account: TokenAccount) => Promise<MovedVote | null>
}>

/** Runs the queries to one server. On a fault of the server, reports it and returns the given value. */
export async function askServer<T>(
  { rpc }: ChainServer,
  otherwise: T,
  questions: () => Promise<T>,
): Promise<T> {
  if (rpc.isResting()) return otherwise
  try {
    return await questions()
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error
    rpc.report(error)
    return otherwise
  }
}

/** Reads one answer of many. Reports a fault in it, which loses only this vote. */
export const reporting =
  (rpc: RpcPeer, read: (answer: unknown, at: number) => void): typeof read =>
  (answer, at) => {
    try {
      read(answer, at)
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error
      rpc.report(error)
    }
  }
