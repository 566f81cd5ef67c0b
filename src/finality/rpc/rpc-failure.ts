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

/** Error code and message of a server, as far as an operator may see them (`serverReply`). */
export type ServerReply = Readonly<{
  /** Code of a closed list, `other`, or `none` for a fault without a code. */
  code: string
  /** Message in one line, bounded, without keys and addresses. Empty without one. */
  message: string
}>

const NO_REPLY: ServerReply = { code: 'none', message: '' }

/** A request without a usable answer. It has no cause: errors of a runtime may repeat the URL and its API key. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure'
  readonly fault: RpcFault
  readonly reply: ServerReply

  constructor(fault: RpcFault, reply: ServerReply = NO_REPLY) {
    super(fault)
    this.fault = fault
    this.reply = reply
  }
}

/** Kind of a failure, with the code and the message of the server where it gave some. */
export function formatFailure({ fault, reply: { code, message } }: RpcFailure): string {
  return [code === 'none' ? fault : `${fault} (${code})`, message].filter((text) => text !== '').join(', ')
}
