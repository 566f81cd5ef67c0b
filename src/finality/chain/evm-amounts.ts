import { asDecimals, asHash, asList, asObject, asText } from '../rpc/answer-shapes.ts'
import type { MovedVote } from './chain-server.ts'
import type { Block, Receipt } from './evm-answers.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcPeer } from '../rpc/rpc-peer.ts'
import type { TokenAccount } from './tx-verdict.ts'

/** Topic of `Transfer(address,address,uint256)` of ERC-20. */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Call of `decimals()`. */
const DECIMALS = '0x313ce567'

/** Sums the transfers of a receipt from the payer less those back to it. Null unless it is final and succeeded. */
export async function movedOnEvm(
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

/** An address as a topic: 32 bytes with zeros in front. */
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
      // A token whose transfers have another form cannot be counted. A final receipt has no removed log.
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
