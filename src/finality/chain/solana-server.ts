import { asCount, asList, asObject, asText } from '../rpc/answer-shapes.ts'
import { askInBatches, type BatchLimit, openBatchLimit } from '../rpc/batch-limit.ts'
import { type ChainServer, reporting } from './chain-server.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcPeer } from '../rpc/rpc-peer.ts'
import { movedOnSolana } from './solana-amounts.ts'
import { transactionError } from './solana-errors.ts'
import type { Vote } from './tx-verdict.ts'

/** Signatures in the first `getSignatureStatuses`, the most that the reference server takes. */
const SIGNATURES = 256
/** A hash of 32 bytes in base58. */
const GENESIS_HASH = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** Votes of one Solana RPC server. */
export function openSolanaServer(rpc: RpcPeer): ChainServer {
  const limit: BatchLimit = openBatchLimit(SIGNATURES)
  return {
    rpc,
    async identity() {
      const hash = asText(await rpc.call('getGenesisHash', []))
      if (!GENESIS_HASH.test(hash)) throw new RpcFailure('wrong-type')
      return hash
    },
    vote: (txs, put) =>
      askInBatches(
        limit,
        txs,
        async (batch, from) => {
          const params = [batch, { searchTransactionHistory: true }]
          const { slot, statuses } = statusesOf(await rpc.call('getSignatureStatuses', params))
          if (statuses.length !== batch.length) throw new RpcFailure('wrong-length')
          statuses.forEach(reporting(rpc, (status, at) => put(from + at, voteOf(rpc, status, slot), slot)))
        },
        rpc.report,
      ),
    moved: (tx, account) => movedOnSolana(rpc, tx, account),
  }
}

function statusesOf(answer: unknown): Readonly<{ slot: number; statuses: readonly unknown[] }> {
  const { context, value } = asObject(answer)
  return { slot: asCount(asObject(context)['slot']), statuses: asList(value) }
}

/** Vote of one status. `head` is the slot that the server had reached. */
function voteOf({ url }: RpcPeer, status: unknown, head: number): Vote {
  if (status === null) return { is: 'unknown' }
  const fields = asObject(status)
  const slot = asCount(fields['slot'])
  const reason = transactionError(fields['err'], url.secrets)
  switch (fields['confirmationStatus']) {
    case 'finalized':
      // A server cannot know the outcome in a slot that it has not reached.
      if (slot > head) throw new RpcFailure('contradiction')
      return reason === null
        ? { is: 'final', place: `slot ${slot}` }
        : { is: 'failed', place: `slot ${slot}`, reason }
    // Null: the server does not say how far the chain is.
    case 'processed':
    case 'confirmed':
    case null:
      return { is: 'waiting', stage: `${fields['confirmationStatus'] ?? 'without a status'} in slot ${slot}` }
    default:
      throw new RpcFailure('wrong-type')
  }
}
