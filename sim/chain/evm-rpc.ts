import type { Transfer } from './chain-settings.ts'
import { addressIn, type Sighting } from './pretend-chain.ts'
import type { ChainView } from './rpc-faults.ts'
import { answered, memberOf, refuse, type RpcMethods, type RpcResult } from './rpc-envelope.ts'

const INVALID_PARAMS = -32_602
/** First topic of an ERC-20 `Transfer(address,address,uint256)`. */
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Selector of `decimals()`. */
const DECIMALS_SELECTOR = '0x313ce567'

/** Methods of an EVM node, with the codes and messages of geth. */
export const EVM_METHODS: RpcMethods = {
  eth_chainId(view) {
    if (view.faults.otherChain !== true) return answered(quantity(view.chain.chainId))
    view.fire('otherChain')
    return answered(quantity(view.chain.chainId + 1))
  },
  eth_getBlockByNumber: blockByNumber,
  eth_getTransactionReceipt(view, [hash]) {
    const wrong = wrongHash(hash)
    if (wrong !== null) return refuse(INVALID_PARAMS, wrong)
    if (view.faults.unhealthy === true) {
      view.fire('unhealthy')
      return refuse(-32_000, 'transaction indexing is in progress')
    }
    const tx = String(hash)
    const found = view.state.find(tx)
    return answered(found === null ? null : receiptOf(view, tx, found))
  },
  eth_call(view, [call]) {
    const to = memberOf(call, 'to')
    const input = memberOf(call, 'input') ?? memberOf(call, 'data')
    if (typeof to !== 'string') return refuse(INVALID_PARAMS, 'missing value for required argument 0')
    const decimals = decimalsOf(view, to)
    // A call to an address without code succeeds and returns nothing.
    if (decimals === undefined) return answered('0x')
    return input === DECIMALS_SELECTOR
      ? answered(word(BigInt(decimals)))
      : refuse(3, 'execution reverted', '0x')
  },
}

function decimalsOf({ chain }: ChainView, address: string): number | undefined {
  const wanted = address.toLowerCase()
  return Object.entries(chain.tokens).find(([token]) => token.toLowerCase() === wanted)?.[1]
}

function blockByNumber(view: ChainView, [tag, full]: readonly unknown[]): RpcResult {
  if (tag === undefined) return refuse(INVALID_PARAMS, 'missing value for required argument 0')
  if (full === undefined) return refuse(INVALID_PARAMS, 'missing value for required argument 1')
  if (tag === 'finalized' && view.faults.finalizedTag !== undefined) return unknownTag(view)
  const block = blockOfTag(view, tag)
  if (block === null) return refuse(INVALID_PARAMS, 'invalid argument 0: hex string without 0x prefix')
  if (block > view.state.head) return answered(null)
  if (view.pruned(block)) {
    view.fire('historyMs')
    return refuse(4444, 'pruned history unavailable')
  }
  return answered(blockOf(view, block))
}

function unknownTag(view: ChainView): RpcResult {
  view.fire('finalizedTag')
  const { finalizedTag } = view.faults
  if (finalizedTag === 'null') return answered(null)
  if (finalizedTag === 'missing') return refuse(-32_000, 'finalized block not found')
  if (finalizedTag === 'unknown-block') return refuse(-39_001, 'Unknown block')
  return refuse(INVALID_PARAMS, 'invalid argument 0: hex string without 0x prefix')
}

function blockOfTag({ state }: ChainView, tag: unknown): number | null {
  switch (tag) {
    case 'latest':
    case 'pending':
      return state.head
    case 'safe':
      return state.confirmed
    case 'finalized':
      return state.final
    case 'earliest':
      return 0
    default:
      return typeof tag === 'string' && /^0x(0|[1-9a-f][0-9a-f]{0,12})$/i.test(tag) ? Number(tag) : null
  }
}

function blockOf({ state }: ChainView, block: number): unknown {
  return {
    hash: state.hashOf(block),
    number: quantity(block),
    parentHash: block === 0 ? `0x${'0'.repeat(64)}` : state.hashOf(block - 1),
    timestamp: quantity(Math.floor(state.timeOf(block) / 1000)),
    transactions: state.txsOf(block),
  }
}

function receiptOf(view: ChainView, tx: string, found: Sighting): unknown {
  const { state } = view
  const blockHash = state.hashOf(found.block)
  const blockNumber = quantity(found.block)
  const transactionIndex = quantity(Math.max(0, state.txsOf(found.block).indexOf(tx.toLowerCase())))
  const first = found.transfers[0]
  return {
    blockHash,
    blockNumber,
    from: first?.payer.toLowerCase() ?? addressIn('evm', `sender of ${tx}`),
    logs: found.transfers.map((transfer, index) => ({
      ...logOf(transfer),
      blockHash,
      blockNumber,
      blockTimestamp: quantity(Math.floor(state.timeOf(found.block) / 1000)),
      logIndex: quantity(index),
      removed: false,
      transactionHash: tx.toLowerCase(),
      transactionIndex,
    })),
    status: found.error === null ? '0x1' : '0x0',
    to: first?.token.toLowerCase() ?? addressIn('evm', `receiver of ${tx}`),
    transactionHash: tx.toLowerCase(),
    transactionIndex,
    type: '0x2',
  }
}

function logOf({ token, payer, payee, units }: Transfer): object {
  const topic = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
  return {
    address: token.toLowerCase(),
    data: word(units),
    topics: [TRANSFER_TOPIC, topic(payer), topic(payee)],
  }
}

function wrongHash(hash: unknown): string | null {
  if (hash === undefined) return 'missing value for required argument 0'
  if (typeof hash === 'string' && /^0x[0-9a-fA-F]{64}$/.test(hash)) return null
  return 'invalid argument 0: want a hex string of 64 digits with 0x prefix for common.Hash'
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`
}

function word(units: bigint): string {
  return `0x${units.toString(16).padStart(64, '0')}`
}
