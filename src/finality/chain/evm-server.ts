import { asDecimals, asHash, asList, asObject, asQuantity, asText } from '../rpc/answer-shapes.ts'
import { type ChainServer, type MovedVote, reporting } from './chain-server.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcPeer } from '../rpc/rpc-peer.ts'
import type { TokenAccount, Vote } from './tx-verdict.ts'

/** Receipts to request before the blocks that contain them. */
const RECEIPTS = 100

/** Votes of one EVM RPC server. */
export function openEvmServer(rpc: RpcPeer): ChainServer {
  /** Newest finalized block that the server named. */
  let finalized: Block | null = null
  const decimals = new Map<string, number>()

  /** Requests the finalized block. Throws `RpcFailure` of `no-finality` when the server has none. */
  async function askFinalized(): Promise<Block> {
    // Another query may be answered in between, so the answer is compared with the block known before it.
    const known = finalized
    const block = blockOf(await finalizedAnswer(rpc))
    if (block.number === known?.number && block.hash !== known.hash) throw new RpcFailure('contradiction')
    if (finalized === null || finalized.number < block.number) finalized = block
    return block
  }

  return {
    rpc,
    async identity() {
      const id = asQuantity(await rpc.call('eth_chainId', []))
      await askFinalized()
      return String(id)
    },

    async vote(txs, put) {
      // The finalized block comes first, so that all later answers are at least as new.
      const head = await askFinalized()
      for (let from = 0; from < txs.length; from += RECEIPTS) {
        await voteSome(rpc, head, txs.slice(from, from + RECEIPTS), (at, vote) =>
          put(from + at, vote, head.number),
        )
      }
    },

    async moved(tx, account) {
      const head = finalized ?? (await askFinalized())
      const receipt = await rpc.call('eth_getTransactionReceipt', [tx])
      if (receipt === null) return null
      return movedOnEvm(rpc, decimals, checkedReceipt(receipt, tx), head, account)
    },
  }
}

/**
 * Answer to the tag `finalized`. A server that has just started has no such block yet, and servers report this in many
 * ways.
 */
async function finalizedAnswer(rpc: RpcPeer): Promise<unknown> {
  try {
    const answer = await rpc.call('eth_getBlockByNumber', ['finalized', false])
    if (answer !== null) return answer
  } catch (error) {
    if (!(error instanceof RpcFailure && error.fault === 'refused')) throw error
    throw new RpcFailure('no-finality', error.reply)
  }
  throw new RpcFailure('no-finality')
}

function checkedReceipt(answer: unknown, tx: string): Receipt {
  const receipt = receiptOf(answer)
  if (receipt.tx !== tx.toLowerCase()) throw new RpcFailure('contradiction')
  return receipt
}

type Put = (at: number, vote: Vote) => void

async function voteSome(rpc: RpcPeer, head: Block, txs: readonly string[], put: Put): Promise<void> {
  const settled: { at: number; receipt: Receipt }[] = []
  await rpc.callAll(
    txs.map((tx) => ({ method: 'eth_getTransactionReceipt', params: [tx] })),
    reporting(rpc, (answer, at) => {
      if (answer === null) return put(at, { is: 'unknown' })
      const receipt = checkedReceipt(answer, txs[at] ?? '')
      const { number } = receipt.block
      if (number > head.number) put(at, { is: 'waiting', stage: `in block ${number}` })
      else settled.push({ at, receipt })
    }),
  )
  const blocks = await blocksAt(
    rpc,
    head,
    settled.map(({ receipt }) => receipt.block.number),
  )
  for (const { at, receipt } of settled) {
    const block = blocks.get(receipt.block.number)
    if (block === undefined) continue
    if (block.hash === receipt.block.hash) put(at, settledVote(receipt))
    // The chain was reorganised between the answers, or they come from different nodes.
    else rpc.report(new RpcFailure('contradiction'))
  }
}

/** Blocks of the chain at these numbers. Omits blocks that the server does not return. */
async function blocksAt(
  rpc: RpcPeer,
  head: Block,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Block>> {
  const different = [...new Set(numbers)]
  const blocks = new Map<number, Block>()
  await rpc.callAll(
    different.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, false],
    })),
    reporting(rpc, (answer, at) => {
      if (answer === null) throw new RpcFailure('lagging')
      const block = blockOf(answer)
      const isOther = block.number === head.number && block.hash !== head.hash
      if (block.number !== different[at] || isOther) throw new RpcFailure('contradiction')
      blocks.set(block.number, block)
    }),
  )
  return blocks
}

function settledVote({ status, block }: Receipt): Vote {
  const place = `block ${block.number} ${block.hash}`
  switch (status) {
    case 'success':
      return { is: 'final', place }
    case 'failure':
      return { is: 'failed', place, reason: 'the transaction was reverted' }
    // A receipt without status does not say whether the transaction succeeded.
    case null:
      return null
  }
}

/** Topic of `Transfer(address,address,uint256)` of ERC-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Call of `decimals()`. */
const DECIMALS = '0x313ce567'

/** Sums the transfers of a receipt from the payer minus those back to it. Null unless it is final and succeeded. */
async function movedOnEvm(
  rpc: RpcPeer,
  decimals: Map<string, number>,
  receipt: Receipt,
  head: Block,
  { payer, token }: TokenAccount,
): Promise<MovedVote | null> {
  if (receipt.status !== 'success' || receipt.block.number > head.number) return null
  const contract = token.toLowerCase()
  const account = wordOf(payer)
  let units = 0n
  for (const { from, to, amount } of transfersOf(receipt.logs, contract)) {
    if (from === account) units += amount
    if (to === account) units -= amount
  }
  const known = decimals.get(contract) ?? (await askDecimals(rpc, contract))
  decimals.set(contract, known)
  return {
    units: units > 0n ? units : 0n,
    decimals: known,
    place: `block ${receipt.block.number} ${receipt.block.hash}`,
  }
}

/** Address as a topic: 32 bytes with leading zeros. */
const wordOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

type Transfer = Readonly<{ from: string; to: string; amount: bigint }>

function transfersOf(logs: readonly unknown[], contract: string): readonly Transfer[] {
  return logs
    .map(asObject)
    .filter((log) => asText(log['address']).toLowerCase() === contract)
    .flatMap((log) => {
      const topics = asList(log['topics']).map(asHash)
      if (topics[0] !== TRANSFER) return []
      const [, from, to, ...further] = topics
      // Transfers of another form cannot be counted. A final receipt has no removed log.
      if (from === undefined || to === undefined || further.length > 0 || log['removed'] === true) {
        throw new RpcFailure('wrong-type')
      }
      return [{ from, to, amount: BigInt(asHash(log['data'])) }]
    })
}

async function askDecimals(rpc: RpcPeer, contract: string): Promise<number> {
  const answer = asHash(await rpc.call('eth_call', [{ to: contract, data: DECIMALS }, 'latest']))
  return asDecimals(Number(BigInt(answer)))
}

/** Number and hash of a block. */
type Block = Readonly<{ number: number; hash: string }>

/** Receipt of a transaction. `status` is null before the Byzantium fork, when receipts did not have one. */
type Receipt = Readonly<{
  tx: string
  block: Block
  status: 'success' | 'failure' | null
  /** Logs whose form has not been checked. */
  logs: readonly unknown[]
}>

/** A block of `eth_getBlockByNumber`. Throws `RpcFailure`. */
function blockOf(answer: unknown): Block {
  const { number, hash } = asObject(answer)
  return { number: asQuantity(number), hash: asHash(hash) }
}

/** A receipt of `eth_getTransactionReceipt`. Throws `RpcFailure`. */
function receiptOf(answer: unknown): Receipt {
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
