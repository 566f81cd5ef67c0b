import { chainHash, type ChainState, type PretendChain, type Sighting } from './pretend-chain.ts'

/** Faults of an RPC server. Each effective fault is counted under its name (`RpcServer.fired`). */
export type Faults = Readonly<{
  /** Closes each connection without an answer. */
  down?: boolean
  /** Takes the request and never answers. */
  hangs?: boolean
  /** Answers later. */
  slowMs?: number
  /** Answers with this HTTP status: 429 as JSON-RPC, others as the HTML of a proxy. */
  status?: number
  /** `Retry-After` of `status`, as sent. */
  retryAfter?: string
  /** Answers 200 with an HTML page. */
  html?: boolean
  /** Cuts the answer: the connection breaks in the body, or the body is complete HTTP with half of the JSON. */
  cut?: 'connection' | 'json'
  /** Sends a body that never ends. */
  endless?: boolean
  /** Answers with another id than the request's. The string form of a number counts as another. */
  wrongId?: 'other' | 'null' | 'string'
  /** Reverses the answers of a batch. This is allowed by JSON-RPC. */
  reversed?: boolean
  /** Adds to (or removes from) the answers of a batch and the statuses of `getSignatureStatuses`. */
  lengthOff?: number
  /** Longest batch, and longest list of signatures. */
  batchMax?: number
  /** Form of the refusal of a longer batch: geth, Erigon, or an HTTP status. The default is geth. */
  batchRefusal?: 'geth' | 'erigon' | 'http-413'
  /** Every nth answer of a batch is an internal error. */
  errorEvery?: number
  /** Sees the chain as it was so long ago. */
  lagMs?: number
  /** Lies: everything is final (even unsent transactions), failures succeeded, or successes failed. */
  lies?: 'final' | 'success' | 'failure'
  /** Transactions about which it lies; the default is all. */
  liesAbout?: (tx: string) => boolean
  /** Names another block for each transaction: its own plus this number. */
  blockShift?: number
  /** Is on another fork: its blocks from this number on have other hashes. */
  forkFrom?: number
  /** Reports a final block that is this many blocks before the true one. */
  finalBehind?: number
  /** Knows only blocks of this age. */
  historyMs?: number
  /** Solana: has no history; asking for it is an error. */
  noHistory?: boolean
  /** Solana: a proxy that asks its node for transactions up to this version, whatever the client accepts. */
  versionMax?: number
  /** EVM: answer to the tag `finalized`: an unknown tag, no such block as in geth or Erigon, or null. */
  finalizedTag?: 'invalid' | 'missing' | 'unknown-block' | 'null'
  /** Says that it serves another chain. */
  otherChain?: boolean
  /** Solana: every method says that the node is behind. EVM: receipts say that indexing is in progress. */
  unhealthy?: boolean
}>

export type FaultName = keyof Faults

/** The chain as one server sees and tells it. */
export type ChainView = Readonly<{
  chain: PretendChain
  faults: Faults
  state: ChainState
  fire(name: FaultName): void
  /** Whether a block is older than the server's history. */
  pruned(block: number): boolean
}>

export function viewOf(chain: PretendChain, faults: Faults, fire: (name: FaultName) => void): ChainView {
  const { lagMs = 0, historyMs = Infinity, forkFrom = Infinity, finalBehind = 0 } = faults
  if (lagMs > 0) fire('lagMs')
  if (finalBehind > 0) fire('finalBehind')
  const state = chain.at(chain.now() - lagMs)
  const final = faults.lies === 'final' ? state.head : Math.max(0, state.final - finalBehind)
  const pruned = (block: number): boolean => state.timeOf(block) < chain.now() - historyMs
  const find = (tx: string): Sighting | null => {
    const found = lied(state.find(tx), tx, state, faults, fire)
    if (found === null || !pruned(found.block)) return shifted(found, faults, fire)
    fire('historyMs')
    return null
  }
  const hashOf = (block: number): string => {
    if (block < forkFrom) return state.hashOf(block)
    fire('forkFrom')
    return chainHash(chain.kind, `fork of ${state.hashOf(block)}`)
  }
  return { chain, faults, fire, pruned, state: { ...state, final, find, hashOf } }
}

function lied(
  found: Sighting | null,
  tx: string,
  state: ChainState,
  { lies, liesAbout = () => true }: Faults,
  fire: (name: FaultName) => void,
): Sighting | null {
  if (lies === undefined || !liesAbout(tx)) return found
  if (lies === 'final') {
    if (found !== null && found.block <= state.final) return found
    fire('lies')
    return found ?? { block: state.head, error: null, transfers: [] }
  }
  if (found === null || (found.error === null) === (lies === 'success')) return found
  fire('lies')
  return { ...found, error: lies === 'success' ? null : { InstructionError: [0, 'GenericError'] } }
}

function shifted(
  found: Sighting | null,
  { blockShift = 0 }: Faults,
  fire: (name: FaultName) => void,
): Sighting | null {
  if (found === null || blockShift === 0) return found
  fire('blockShift')
  return { ...found, block: Math.max(0, found.block + blockShift) }
}
