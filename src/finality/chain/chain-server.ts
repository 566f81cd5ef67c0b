import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcPeer } from '../rpc/rpc-peer.ts'
import type { MovedAmount, TokenAccount, Vote } from './tx-verdict.ts'

/** The amount that one server moved, and the place of the transaction: both must agree between servers. */
export type MovedVote = MovedAmount & Readonly<{ place: string }>

/**
 * Takes the vote about the transaction at a place. `head` is how far the server was when it gave it: the newest slot of
 * Solana, or the number of the finalized block.
 */
type PutVote = (at: number, vote: Vote, head: number) => void

/** Questions of one chain to one RPC server. All functions throw `RpcFailure`, or the reason of the signal. */
export type ChainServer = Readonly<{
  rpc: RpcPeer
  /** Genesis hash or chain id. The failure `no-finality` is of an EVM server without a finalized block. */
  identity: () => Promise<string>
  /** Gives a vote for each transaction by its place. A failure leaves the rest without one. */
  vote: (txs: readonly string[], put: PutVote) => Promise<void>
  /** Null when the answer cannot be counted. */
  moved: (tx: string, account: TokenAccount) => Promise<MovedVote | null>
}>

/** Runs the questions to one server. Reports a fault of the server, and then returns the given value. */
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

/** Reads one answer of many. A fault in it is reported, and costs no vote but its own. */
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
