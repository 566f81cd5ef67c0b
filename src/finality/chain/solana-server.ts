import {
  type AnswerFields,
  asCount,
  asDecimals,
  asList,
  asObject,
  asText,
  asUnits,
} from '../rpc/answer-shapes.ts'
import { askInBatches, type BatchLimit, openBatchLimit } from '../rpc/batch-limit.ts'
import { type ChainServer, type MovedVote, reporting } from './chain-server.ts'
import { RpcFailure } from '../rpc/rpc-failure.ts'
import type { RpcPeer } from '../rpc/rpc-peer.ts'
import { transactionError } from './solana-errors.ts'
import type { TokenAccount, Vote } from './tx-verdict.ts'

/** Signatures in the first `getSignatureStatuses`: the limit of the reference server. */
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
    // Null: the server does not report the progress of the chain.
    case 'processed':
    case 'confirmed':
    case null:
      return { is: 'waiting', stage: `${fields['confirmationStatus'] ?? 'without a status'} in slot ${slot}` }
    default:
      throw new RpcFailure('wrong-type')
  }
}

/**
 * Highest accepted version of a transaction. Nothing is read that a version may change: only `meta`, `slot` and the
 * signatures. The version of a transaction has seven bits, but the field is a byte, so servers may refuse more.
 */
const VERSION_MAX = 127

/** Requests a finalized transaction and reads its token balances before and after. Null without one. */
async function movedOnSolana(rpc: RpcPeer, tx: string, account: TokenAccount): Promise<MovedVote | null> {
  const answer = await rpc.call('getTransaction', [
    tx,
    { encoding: 'jsonParsed', maxSupportedTransactionVersion: VERSION_MAX, commitment: 'finalized' },
  ])
  return answer === null ? null : movedIn(rpc, asObject(answer), tx, account)
}

type Balance = Readonly<{ account: number; owner: string; units: bigint; decimals: number }>

function movedIn(
  { url }: RpcPeer,
  answer: AnswerFields,
  tx: string,
  { payer, token }: TokenAccount,
): MovedVote | null {
  const meta = asObject(answer['meta'])
  const signatures = asList(asObject(answer['transaction'])['signatures'])
  if (signatures[0] !== tx) throw new RpcFailure('contradiction')
  if (transactionError(meta['err'], url.secrets) !== null) return null
  const before = balancesOf(meta['preTokenBalances'], token)
  const after = balancesOf(meta['postTokenBalances'], token)
  const decimals = new Set([...before, ...after].map((balance) => balance.decimals))
  if (decimals.size > 1) throw new RpcFailure('contradiction')
  const units = sumOf(before, payer) - sumOf(after, payer)
  return {
    units: units > 0n ? units : 0n,
    decimals: [...decimals][0] ?? 0,
    place: `slot ${asCount(answer['slot'])}`,
  }
}

const sumOf = (balances: readonly Balance[], payer: string): bigint =>
  balances.filter(({ owner }) => owner === payer).reduce((sum, { units }) => sum + units, 0n)

/** Balances of one token. Each account occurs once. Transactions before 2021 have no owners: `wrong-type`. */
function balancesOf(list: unknown, token: string): readonly Balance[] {
  const balances = asList(list)
    .map(asObject)
    .filter((fields) => asText(fields['mint']) === token)
    .map((fields) => {
      const amount = asObject(fields['uiTokenAmount'])
      return {
        account: asCount(fields['accountIndex']),
        owner: asText(fields['owner']),
        units: asUnits(amount['amount']),
        decimals: asDecimals(amount['decimals']),
      }
    })
  if (new Set(balances.map(({ account }) => account)).size !== balances.length) {
    throw new RpcFailure('contradiction')
  }
  return balances
}
