import { base58 } from '@scure/base'
import type { Transfer } from './chain-settings.ts'
import { addressIn, chainHash, digestOf, type Sighting } from './pretend-chain.ts'
import type { ChainView } from './rpc-faults.ts'
import { answered, memberOf, refuse, type RpcMethods, type RpcResult } from './rpc-envelope.ts'

/** Most signatures of one `getSignatureStatuses`. */
const SIGNATURES_MAX = 256
/** Age in slots up to which the status cache knows a transaction without `searchTransactionHistory`. */
const STATUS_CACHE_SLOTS = 300
const INVALID_PARAMS = -32_602
const API_VERSION = '2.3.13'

/** Methods of a Solana RPC node, with the codes and messages of Agave. */
export const SOLANA_METHODS: RpcMethods = {
  getGenesisHash(view, params) {
    if (params.length > 0) return refuse(INVALID_PARAMS, 'Invalid parameters: No parameters were expected')
    if (view.faults.otherChain !== true) return answered(view.chain.genesis)
    view.fire('otherChain')
    return answered(chainHash('solana', `not ${view.chain.genesis}`))
  },
  getSignatureStatuses: signatureStatuses,
  getTransaction: transaction,
}

function signatureStatuses(view: ChainView, [signatures, config]: readonly unknown[]): RpcResult {
  if (!Array.isArray(signatures)) {
    return refuse(INVALID_PARAMS, 'Invalid params: invalid type: expected a sequence.')
  }
  const max = Math.min(SIGNATURES_MAX, view.faults.batchMax ?? SIGNATURES_MAX)
  if (signatures.length > max) {
    if (max < SIGNATURES_MAX) view.fire('batchMax')
    return refuse(INVALID_PARAMS, `Too many inputs provided; max ${max}`)
  }
  for (const signature of signatures) {
    const wrong = wrongSignature(signature)
    if (wrong !== null) return refuse(INVALID_PARAMS, `Invalid param: ${wrong}`)
  }
  const search = memberOf(config, 'searchTransactionHistory') === true
  if (search && view.faults.noHistory === true) {
    view.fire('noHistory')
    return refuse(-32_011, 'Transaction history is not available from this node')
  }
  const value = signatures.map((signature) => statusOf(view, String(signature), search))
  return answered({ context: { apiVersion: API_VERSION, slot: view.state.head }, value: sized(view, value) })
}

function statusOf({ state }: ChainView, signature: string, search: boolean): unknown {
  const found = state.find(signature)
  if (found === null || (!search && found.block < state.final - STATUS_CACHE_SLOTS)) return null
  const final = found.block <= state.final
  return {
    confirmationStatus: final ? 'finalized' : found.block <= state.confirmed ? 'confirmed' : 'processed',
    confirmations: final ? null : state.head - found.block,
    err: found.error,
    slot: found.block,
    status: found.error === null ? { Ok: null } : { Err: found.error },
  }
}

/** The list with `lengthOff` elements more or fewer. */
function sized(view: ChainView, value: readonly unknown[]): readonly unknown[] {
  const { lengthOff = 0 } = view.faults
  if (lengthOff === 0) return value
  view.fire('lengthOff')
  return lengthOff < 0
    ? value.slice(0, lengthOff)
    : [...value, ...Array<unknown>(lengthOff).fill(value[0] ?? null)]
}

function transaction(view: ChainView, [signature, config]: readonly unknown[]): RpcResult {
  const wrong = wrongSignature(signature)
  if (wrong !== null) return refuse(INVALID_PARAMS, `Invalid param: ${wrong}`)
  const given = memberOf(config, 'maxSupportedTransactionVersion') ?? null
  if (given !== null && !isByte(given)) {
    return refuse(INVALID_PARAMS, `Invalid params: invalid value: ${JSON.stringify(given)}, expected u8.`)
  }
  // Without the parameter, a client gets legacy transactions only.
  const accepted = given ?? -1
  const commitment = memberOf(config, 'commitment') ?? 'finalized'
  if (commitment === 'processed') {
    return refuse(INVALID_PARAMS, 'Method does not support commitment below `confirmed`')
  }
  if (view.faults.noHistory === true) {
    view.fire('noHistory')
    return refuse(-32_011, 'Transaction history is not available from this node')
  }
  const found = view.state.find(String(signature))
  if (found === null || found.block > (slotAt(view, commitment) ?? 0)) return answered(null)
  const { versionMax = accepted } = view.faults
  const version = versionOf(String(signature))
  if (version !== 'legacy' && version > versionMax) {
    if (version <= accepted) view.fire('versionMax')
    return refuse(
      -32_015,
      `Transaction version (${version}) is not supported by the requesting client. Please try the request again with ` +
        `the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
    )
  }
  return answered(parsedTransaction(view, String(signature), found, version))
}

type TransactionVersion = 'legacy' | 0 | 1

/** Version of a transaction: a third each are legacy, version 0 and version 1. */
function versionOf(signature: string): TransactionVersion {
  const versions = ['legacy', 0, 1] as const
  return versions[(digestOf(signature)[0] ?? 0) % versions.length] ?? 'legacy'
}

const isByte = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255

function parsedTransaction(
  view: ChainView,
  signature: string,
  { block, error, transfers }: Sighting,
  version: TransactionVersion,
): unknown {
  const feePayer = transfers[0]?.payer ?? addressIn('solana', `fee payer of ${signature}`)
  const holders = holdersOf(view, transfers)
  const keys = [feePayer, ...holders.map((holder) => holder.account)]
  const lamports = keys.map((_, index) => (index === 0 ? 1_000_000_000 : 2_039_280))
  const balance = (holder: TokenHolder, index: number, units: bigint): unknown => ({
    accountIndex: index + 1,
    mint: holder.token,
    owner: holder.owner,
    programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    uiTokenAmount: uiAmount(units, view.chain.tokens[holder.token] ?? 0),
  })
  return {
    blockTime: Math.floor(view.state.timeOf(block) / 1000),
    meta: {
      err: error,
      fee: 5_000,
      postBalances: lamports.map((amount, index) => (index === 0 ? amount - 5_000 : amount)),
      postTokenBalances: holders.map((holder, index) =>
        balance(holder, index, holder.before + holder.change),
      ),
      preBalances: lamports,
      // The transaction itself may create the payee's account, which then has no balance before.
      preTokenBalances: holders.flatMap((holder, index) =>
        holder.isNew ? [] : [balance(holder, index, holder.before)],
      ),
      status: error === null ? { Ok: null } : { Err: error },
    },
    slot: block,
    transaction: {
      message: {
        accountKeys: keys.map((pubkey, index) => ({
          pubkey,
          signer: index === 0,
          source: 'transaction',
          writable: true,
        })),
        instructions: [],
        recentBlockhash: view.state.hashOf(Math.max(0, block - 10)),
      },
      signatures: [signature],
    },
    version,
  }
}

type TokenHolder = Readonly<{
  account: string
  owner: string
  token: string
  before: bigint
  change: bigint
  isNew: boolean
}>

/** Token accounts that the transfers touch, with their balance before and its change. */
function holdersOf(view: ChainView, transfers: readonly Transfer[]): readonly TokenHolder[] {
  const changes = new Map<string, Readonly<{ owner: string; token: string; change: bigint }>>()
  const add = (owner: string, token: string, units: bigint): void => {
    const key = `${owner} ${token}`
    changes.set(key, { owner, token, change: (changes.get(key)?.change ?? 0n) + units })
  }
  for (const { token, payer, payee, units } of transfers) {
    add(payer, token, -units)
    add(payee, token, units)
  }
  return Array.from(changes.values(), ({ owner, token, change }) => {
    const account = addressIn('solana', `token account ${owner} ${token} ${view.chain.genesis}`)
    const isNew = change > 0n && (digestOf(account)[0] ?? 0) % 2 === 0
    return { account, owner, token, change, isNew, before: isNew ? 0n : 10n ** 18n }
  })
}

function uiAmount(units: bigint, decimals: number): unknown {
  const digits = units.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const text =
    decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, '')
  return { amount: units.toString(), decimals, uiAmount: Number(text), uiAmountString: text }
}

/** Message of Agave for a value that is no signature; null when it is one. */
function wrongSignature(signature: unknown): string | null {
  if (typeof signature !== 'string') return 'Invalid'
  if (signature.length > 88) return 'WrongSize'
  if (!/^[1-9A-HJ-NP-Za-km-z]+$/.test(signature)) return 'Invalid'
  return base58.decode(signature).length === 64 ? null : 'WrongSize'
}

function slotAt({ state }: ChainView, commitment: unknown): number | null {
  if (commitment === 'processed') return state.head
  if (commitment === 'confirmed') return state.confirmed
  return commitment === 'finalized' ? state.final : null
}
