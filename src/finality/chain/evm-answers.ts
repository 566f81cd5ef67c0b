import { asHash, asList, asObject, asQuantity } from '../rpc/answer-shapes.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'

/** Number and hash of a block. */
export type Block = Readonly<{ number: number; hash: string }>

/** Receipt of a transaction. `status` is null before the Byzantium fork, when receipts did not have one. */
export type Receipt = Readonly<{
  tx: string
  block: Block
  status: 'success' | 'failure' | null
  /** Logs whose form has not been checked. */
  logs: readonly unknown[]
}>

/** A block of `eth_getBlockByNumber`. Throws `RpcFailure`. */
export function blockOf(answer: unknown): Block {
  const { number, hash } = asObject(answer)
  return { number: asQuantity(number), hash: asHash(hash) }
}

/** A receipt of `eth_getTransactionReceipt`. Throws `RpcFailure`. */
export function receiptOf(answer: unknown): Receipt {
  const { transactionHash, blockNumber, blockHash, status, logs } = asObject(answer)
  return {
    tx: asHash(transactionHash),
    block: { number: asQuantity(blockNumber), hash: asHash(blockHash) },
    status: statusOf(status),
    logs: asList(logs),
  }
}

function statusOf(status: unknown): Receipt['status'] {
  if (status === undefined || status === null) return null
  switch (asQuantity(status)) {
    case 0:
      return 'failure'
    case 1:
      return 'success'
    default:
      throw new RpcFailure('wrong-type')
  }
}
