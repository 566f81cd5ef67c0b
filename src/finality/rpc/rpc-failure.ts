/** Kind of an RPC server's failure to give a vote. */
export type RpcFault =
  | 'unreachable'
  | 'timeout'
  | 'rate-limited'
  | 'http-status'
  | 'too-long'
  | 'no-json'
  /** An object has the same field twice, so that the answer is ambiguous. */
  | 'repeated-member'
  | 'wrong-id'
  | 'wrong-length'
  | 'wrong-type'
  /** An error that no smaller batch would avoid. */
  | 'rpc-error'
  /** An error that a smaller batch may avoid. */
  | 'refused'
  /** The server is behind enough others, or not yet able to answer. */
  | 'lagging'
  /** Two of its answers contradict each other. */
  | 'contradiction'
  /** Enough other servers agree on another outcome, place or amount. */
  | 'outvoted'
  | 'wrong-chain'
  | 'no-finality'

/** Error code and message of a server, in the form for an operator (`serverReply`). */
export type ServerReply = Readonly<{
  /** Code of a closed list, `other`, or `none` for a fault without a code. */
  code: string
  /** Message in one line, limited, without keys and addresses; empty without one. */
  message: string
}>

const NO_REPLY: ServerReply = { code: 'none', message: '' }

/** Request without a usable answer. It has no cause, because runtime errors may repeat the URL and its API key. */
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

/** Kind of a failure, with the server's code and message if there are any. */
export function formatFailure({ fault, reply: { code, message } }: RpcFailure): string {
  return [code === 'none' ? fault : `${fault} (${code})`, message].filter((text) => text !== '').join(', ')
}
