export type ChainKind = 'solana' | 'evm'

/** Settings of a pretend chain. */
export type ChainSettings = Readonly<{
  kind: ChainKind
  seed: string
  now: () => number
  /** Moment of the first block; the default is ten minutes before `now`. */
  startedAt?: number
  /** Time between two blocks; the default is 400 ms on Solana and 12 s on EVM. */
  blockMs?: number
  /** Blocks on top of a confirmed one, and of a final one. The defaults are 1 and 31 on Solana, 32 and 64 on EVM. */
  confirmDepth?: number
  finalDepth?: number
  /** Blocks by which the final block moves at a time; the default is 1 on Solana and 32, an epoch, on EVM. */
  finalStep?: number
  /** Decimals of each token, by its address. */
  tokens?: Readonly<Record<string, number>>
  /** Fate of an unknown transaction in a query. It counts as sent at that time. */
  adopt?: (tx: string) => Fate
  /** Transfers of a transaction whose fate has none. Called at each query. */
  transfersOf?: (tx: string) => readonly Transfer[]
}>

/** Course of a transaction. The default is included within two blocks and succeeds. */
export type Fate = Readonly<{
  /** Time from sending to its block; null is never included. */
  landsAfterMs?: number | null
  /** Error with which it is included: any JSON value, for Solana such as `SOLANA_FAILURE`. */
  error?: unknown
  /** Time from its block to a reorganisation that removes it, and from there to its next block; null is never. */
  reorg?: Readonly<{ afterMs: number; againAfterMs: number | null }>
  /** Tokens that it moves when it succeeds. */
  transfers?: readonly Transfer[]
  /** Moment of sending; the default is now. */
  sentAt?: number
}>

/** Movement of a token, in base units. `payer` and `payee` own the token accounts. */
export type Transfer = Readonly<{ token: string; payer: string; payee: string; units: bigint }>
