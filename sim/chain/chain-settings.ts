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
  /** The final block moves by so many at a time; the default is 1 on Solana and 32, an epoch, on EVM. */
  finalStep?: number
  /** Decimals of each token, by its address. */
  tokens?: Readonly<Record<string, number>>
  /** Fate of a transaction that is asked for and was never sent: it counts as sent at the question. */
  adopt?: (tx: string) => Fate
  /** Transfers of a transaction whose fate names none. Asked at each question. */
  transfersOf?: (tx: string) => readonly Transfer[]
}>

/** Course of a transaction. The default is included within two blocks and succeeds. */
export type Fate = Readonly<{
  /** Time from sending to its block; null is never included. */
  landsAfterMs?: number | null
  /** Error with which it is included: any JSON value, for Solana such as `SOLANA_FAILURE`. */
  error?: unknown
  /** Time from its block to a reorganisation that takes it out, and from there to its next block; null is never. */
  reorg?: Readonly<{ afterMs: number; againAfterMs: number | null }>
  /** Tokens that it moves when it succeeds. */
  transfers?: readonly Transfer[]
  /** Moment of sending; the default is now. */
  sentAt?: number
}>

/** Movement of a token, in base units. `payer` and `payee` own the token accounts. */
export type Transfer = Readonly<{ token: string; payer: string; payee: string; units: bigint }>
