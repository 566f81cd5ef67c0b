import type { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcSettings } from '../rpc/rpc-post.ts'

/** Outcome of one transaction on the chain. `place` is `slot 123`, or `block 17 0x…` with the block's hash. */
export type TxVerdict =
  | Readonly<{ is: 'final'; place: string }>
  | Readonly<{ is: 'failed'; place: string; reason: string }>
  /** The chain knows it, and may still drop it. */
  | Readonly<{ is: 'waiting' }>
  /** Unknown to all servers that answer. It may be too new, dropped or pruned. */
  | Readonly<{ is: 'unknown' }>
  /** Too few votes, or votes that contradict each other. */
  | Readonly<{ is: 'unsure' }>

/** Outcome that stays. */
export type Settled = Extract<TxVerdict, { is: 'final' | 'failed' }>

/** Answer of one server about one transaction; null without a usable answer. */
export type Vote =
  | Settled
  /** Not final yet. `stage` describes its progress. */
  | Readonly<{ is: 'waiting'; stage: string }>
  | Readonly<{ is: 'unknown' }>
  | null

/** Vote of a server, and the server's progress. */
export type Ballot = Readonly<{ vote: Vote; head: number }>

/** Amount of a token in its smallest unit, with the token's number of decimals. */
export type MovedAmount = Readonly<{ units: bigint; decimals: number }>

/** A payer and a token: on Solana a wallet and a mint, on EVM an account and a contract. */
export type TokenAccount = Readonly<{ payer: string; token: string }>

/** Answer of one server about a transaction, with the name of its URL and its last failure. */
export type ServerAnswer = Readonly<{
  server: string
  ballot: Ballot | undefined
  failure: RpcFailure | null
}>

/** Client of one chain's RPC servers. Server faults do not count as votes, and are reported to `onFault`. */
export type ChainClient = Readonly<{
  /**
   * Returns the chain's id if enough servers report it, or if one reports the expected id: the genesis hash on Solana,
   * the chain id in decimal digits on EVM. Reports servers that cannot vote. Null while too few answer; retry later.
   * Throws `ChainError` for servers of other chains, while too few report the right one. Without an expected id, also
   * throws it when enough EVM servers lack a finalized block.
   */
  identify: (expected: string | null) => Promise<string | null>
  /**
   * Verdict for each transaction, in order. All are `unsure` before `identify` has returned an id. `onAnswers` gets the
   * answers of all servers about each. Throws only the reason of the signal.
   */
  ask: (
    txs: readonly string[],
    onAnswers?: (tx: string, answers: readonly ServerAnswer[]) => void,
  ) => Promise<readonly TxVerdict[]>
  /**
   * Amount of the token that the payer moved in a final transaction: debits minus credits of its accounts, at least 0.
   * Null when too few servers agree.
   */
  moved: (tx: string, account: TokenAccount) => Promise<MovedAmount | null>
  /** Text of each server's last fault, with the name of its URL. */
  faults: () => readonly Readonly<{ server: string; words: string }>[]
}>

export type ChainClientSettings = RpcSettings &
  Readonly<{
    chain: 'solana' | 'evm'
    /** RPC servers. A single server decides alone; of several, two must agree. */
    urls: readonly string[]
  }>
