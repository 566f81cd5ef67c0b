import { sha256 } from '@noble/hashes/sha2.js'
import { base58 } from '@scure/base'
import { blockClock } from './block-clock.ts'
import type { ChainKind, ChainSettings, Fate, Transfer } from './chain-settings.ts'
import { openSentTransactions } from './sent-transactions.ts'

/**
 * A pretend blockchain for the demonstration and the tests. It is a pure function of its settings, its clock and what
 * was sent to it. `openRpcServer` (rpc-server.ts) shows it as JSON-RPC, with faults on request.
 *
 *     let now = 1_000_000_000_000
 *     const chain = openPretendChain({ kind: 'solana', seed: 'a', now: () => now })
 *     await using rpc = await openRpcServer({ chain })      // rpc.url is the value of --finality solana=URL
 *     const tx = chain.txOf(1)
 *     chain.send(tx)                                        // final after about 13 s of the clock
 *     chain.send(chain.txOf(2), { error: SOLANA_FAILURE })  // fails
 *     chain.send(chain.txOf(3), { landsAfterMs: null })     // is never included
 *     chain.send(chain.txOf(4), { reorg: { afterMs: 800, againAfterMs: null } }) // is included, then dropped
 *     now += 20_000
 *     chain.truth(tx)                                       // { is: 'final', place: 'slot 1842' }
 *     rpc.setFaults({ status: 429, retryAfter: '2' })       // every following request; {} ends it
 *     rpc.fired()                                           // { status: 3 }
 */
export type PretendChain = Readonly<{
  kind: ChainKind
  /** Hash of the first block: on Solana `getGenesisHash`. */
  genesis: string
  /** On EVM `eth_chainId`. */
  chainId: number
  tokens: Readonly<Record<string, number>>
  /** The nth transaction identifier of the seed. It is not sent yet. */
  txOf(number: number): string
  /** An account address of the seed, for a name. */
  addressOf(name: string): string
  /** Sends a transaction now. A second send of the same one changes nothing, as on a real chain. */
  send(tx: string, fate?: Fate): void
  /** The outcome of a transaction as a server without faults would tell it now. */
  truth(tx: string): Truth
  /** Moment at which the outcome of a sent transaction is final; null when it never is. */
  finalAt(tx: string): number | null
  /** State of the chain at a moment; later moments than `now` are allowed. */
  at(moment: number): ChainState
  now(): number
}>

type Truth = Readonly<{ is: 'unknown' | 'waiting' } | { is: 'final' | 'failed'; place: string }>

/** Error of a failed Solana transaction: a program refused an instruction. */
export const SOLANA_FAILURE: unknown = { InstructionError: [0, { Custom: 1 }] }

/** State of the chain at a moment. Blocks are numbered from 0; on Solana a block is a slot. */
export type ChainState = Readonly<{
  head: number
  confirmed: number
  final: number
  /** Moment of a block, ms. */
  timeOf(block: number): number
  hashOf(block: number): string
  /** Place of a transaction; null when it is in no block. */
  find(tx: string): Sighting | null
  /** Transactions of a block, in order of sending. */
  txsOf(block: number): readonly string[]
}>

export type Sighting = Readonly<{ block: number; error: unknown; transfers: readonly Transfer[] }>

export function openPretendChain(settings: ChainSettings): PretendChain {
  const { kind, seed, now } = settings
  const clock = blockClock(settings)
  const sent = openSentTransactions(settings, clock)
  const at = (moment: number): ChainState => {
    const head = clock.headAt(moment)
    const blockOf = (tx: string): number | null =>
      sent.staysOf(tx).find((stay) => stay.block <= head && moment < stay.until)?.block ?? null
    return {
      head,
      confirmed: Math.max(0, head - clock.confirmDepth),
      final: clock.finalAt(head),
      timeOf: clock.timeOf,
      hashOf: (block) => chainHash(kind, `${seed}/block/${block}/${sent.forksOf(block, moment)}`),
      find(tx) {
        const block = blockOf(tx)
        if (block === null) return null
        const { error = null, transfers = settings.transfersOf?.(tx) ?? [] } = sent.fateOf(tx)
        return { block, error, transfers: error === null ? transfers : [] }
      },
      txsOf: (block) => sent.candidatesOf(block).filter((tx) => blockOf(tx) === block),
    }
  }
  return {
    kind,
    genesis: chainHash(kind, `${seed}/block/0/0`),
    chainId: 1 + (digestOf(`${seed}/chain`)[0] ?? 0),
    tokens: settings.tokens ?? {},
    txOf: (number) => txIn(kind, `${seed}/tx/${number}`),
    addressOf: (name) => addressIn(kind, `${seed}/address/${name}`),
    send: sent.send,
    truth: (tx) => truthOf(kind, at(now()), tx),
    finalAt: (tx) => {
      const last = sent.staysOf(tx).at(-1)
      return last === undefined || last.until !== Infinity ? null : clock.momentOfFinal(last.block)
    },
    at,
    now,
  }
}

function truthOf(kind: ChainKind, state: ChainState, tx: string): Truth {
  const found = state.find(tx)
  if (found === null) return { is: 'unknown' }
  if (found.block > state.final) return { is: 'waiting' }
  const place =
    kind === 'solana' ? `slot ${found.block}` : `block ${found.block} ${state.hashOf(found.block)}`
  return { is: found.error === null ? 'final' : 'failed', place }
}

export function digestOf(text: string): Uint8Array {
  return sha256(new TextEncoder().encode(text))
}

/** Block hash in the form of a chain, from any text. */
export function chainHash(kind: ChainKind, text: string): string {
  const digest = digestOf(text)
  return kind === 'solana' ? base58.encode(digest) : `0x${digest.toHex()}`
}

function txIn(kind: ChainKind, text: string): string {
  if (kind === 'evm') return chainHash(kind, text)
  return base58.encode(new Uint8Array([...digestOf(`${text}/r`), ...digestOf(`${text}/s`)]))
}

export function addressIn(kind: ChainKind, text: string): string {
  const digest = digestOf(text)
  return kind === 'solana' ? base58.encode(digest) : `0x${digest.slice(0, 20).toHex()}`
}
