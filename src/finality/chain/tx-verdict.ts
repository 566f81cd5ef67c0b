import type { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcSettings } from '../rpc/rpc-post.ts'

/** Outcome on chain of one transaction. `place` says where: `slot 123`, or `block 17 0x…` with the block's hash. */
export type TxVerdict =
  | Readonly<{ is: 'final'; place: string }>
  | Readonly<{ is: 'failed'; place: string; reason: string }>
  /** The chain knows it, and may still drop it. */
  | Readonly<{ is: 'waiting' }>
  /** Nobody who answers knows it. It may be too new, dropped or pruned. */
  | Readonly<{ is: 'unknown' }>
  /** Too few votes, or votes that contradict each other. */
  | Readonly<{ is: 'unsure' }>

/** Outcome that stays. */
export type Settled = Extract<TxVerdict, { is: 'final' | 'failed' }>

/** Answer of one server about one transaction; null without an answer that counts. */
export type Vote =
  | Settled
  /** `stage` says how far it is, in words. */
  | Readonly<{ is: 'waiting'; stage: string }>
  | Readonly<{ is: 'unknown' }>
  | null

/** A vote of a server, and how far the server was. */
export type Ballot = Readonly<{ vote: Vote; head: number }>

/** Amount of a token in its smallest unit. The token's own number of decimals says how to read it. */
export type MovedAmount = Readonly<{ units: bigint; decimals: number }>

/** A payer and a token: on Solana a wallet and a mint, on EVM an account and a contract. */
export type TokenAccount = Readonly<{ payer: string; token: string }>

/** Answer of one server about a transaction, by the name of its URL, and the last failure of the server. */
export type ServerAnswer = Readonly<{
  server: string
  ballot: Ballot | undefined
  failure: RpcFailure | null
}>

/** Asks the RPC servers of one chain. Faults of servers are no votes, and are reported to `onFault`. */
export type ChainClient = Readonly<{
  /**
   * Returns the chain's id, which enough servers name, or the expected one if a server names it: the genesis hash on
   * Solana, the chain id in decimal digits on EVM. Reports the servers that cannot vote. Returns null while too few
   * answer: ask again later. Throws `ChainError` for servers of other chains while too few name the right one, and when
   * enough servers of an EVM chain that nobody expects have no finalized block.
   */
  identify: (expected: string | null) => Promise<string | null>
  /**
   * A verdict for each transaction, in their order. All are `unsure` before `identify` has returned an id. `onAnswers`
   * gets the answers of all servers about each. Throws only the reason of the signal.
   */
  ask: (
    txs: readonly string[],
    onAnswers?: (tx: string, answers: readonly ServerAnswer[]) => void,
  ) => Promise<readonly TxVerdict[]>
  /**
   * Amount of the token that the payer moved in a final transaction: what left its accounts less what came back, at
   * least 0. Null when too few servers agree.
   */
  moved: (tx: string, account: TokenAccount) => Promise<MovedAmount | null>
  /** The last fault of each server that has had one, in words, by the name of its URL. */
  faults: () => readonly Readonly<{ server: string; words: string }>[]
}>

export type ChainClientSettings = RpcSettings &
  Readonly<{
    chain: 'solana' | 'evm'
    /** RPC servers. With one, its word counts. With more, two must agree. */
    urls: readonly string[]
  }>
