/** Way in which an RPC server fails to give a vote. */
export type RpcFault =
  | 'unreachable'
  | 'timeout'
  | 'rate-limited'
  | 'http-status'
  | 'too-long'
  | 'no-json'
  /** An object has the same member twice, so that the answer says two things. */
  | 'repeated-member'
  | 'wrong-id'
  | 'wrong-length'
  | 'wrong-type'
  /** An error that no smaller batch would avoid. */
  | 'rpc-error'
  /** An error that a smaller batch may avoid. */
  | 'refused'
  /** Behind what enough servers have reached, or not yet able to answer. */
  | 'lagging'
  /** Two of its answers contradict each other. */
  | 'contradiction'
  /** Enough other servers agree on another outcome, place or amount. */
  | 'outvoted'
  | 'wrong-chain'
  | 'no-finality'

/** Code and words of a server with its fault, as far as an operator may see it (`saidBy`). */
export type ServerWords = Readonly<{
  /** Code of a closed list, `other`, or `none` for a fault without a code. */
  code: string
  /** Message in one line, bounded, without keys and addresses. Empty without one. */
  words: string
}>

const NOTHING_SAID: ServerWords = { code: 'none', words: '' }

/** A request without a usable answer. It has no cause: errors of a runtime may repeat the URL and its API key. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly fault: RpcFault
  readonly said: ServerWords

  constructor(fault: RpcFault, said: ServerWords = NOTHING_SAID) {
    super(fault)
    this.fault = fault
    this.said = said
  }
}

/** Kind of a failure, with the code and the words of the server where it gave some. */
export function failureWords({ fault, said: { code, words } }: RpcFailure): string {
  return [code === 'none' ? fault : `${fault} (${code})`, words].filter((text) => text !== '').join(', ')
}
