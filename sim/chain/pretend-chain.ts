import { sha256 } from '@noble/hashes/sha2.js'
import { base58 } from '@scure/base'
import type { ChainKind, ChainSettings, Fate, Transfer } from './chain-settings.ts'

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
  /** Sends a transaction now. Sending it again changes nothing, as on a real chain. */
  send(tx: string, fate?: Fate): void
  /** Current outcome of a transaction from a server without faults. */
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

/** Block of a transaction, and the moment of the reorganisation that removes it. */
type Stay = Readonly<{ block: number; until: number }>

/** Most transactions in memory of a chain that adopts. The oldest are dropped. */
const ADOPTED_MAX = 100_000

export function openPretendChain(settings: ChainSettings): PretendChain {
  const { kind, seed, now, adopt } = settings
  const clock = blockClock(settings)
  const sent = new Map<string, Readonly<{ stays: readonly Stay[]; fate: Fate }>>()
  /** Transactions that are in a block at some time, in order of sending. */
  const blocks = new Map<number, readonly string[]>()
  const reorgs: Readonly<{ at: number; from: number }>[] = []
  const keyOf = (tx: string): string => (kind === 'evm' ? tx.toLowerCase() : tx)

  function send(id: string, fate: Fate = {}): void {
    const tx = keyOf(id)
    if (sent.has(tx)) return
    const stays = staysIn(fate, fate.sentAt ?? now(), clock)
    sent.set(tx, { stays, fate })
    for (const { block, until } of stays) {
      blocks.set(block, [...(blocks.get(block) ?? []), tx])
      if (until !== Infinity) reorgs.push({ at: until, from: block })
    }
  }

  function forgetOldest(): void {
    const [[tx = '', { stays } = { stays: [] as readonly Stay[] }] = []] = sent
    sent.delete(tx)
    for (const { block } of stays) {
      const left = (blocks.get(block) ?? []).filter((other) => other !== tx)
      if (left.length === 0) blocks.delete(block)
      else blocks.set(block, left)
    }
  }

  /** Blocks of a transaction in order of time. An unknown transaction is adopted if the settings allow it. */
  function staysOf(tx: string): readonly Stay[] {
    const key = keyOf(tx)
    if (adopt !== undefined && !sent.has(key)) {
      if (sent.size >= ADOPTED_MAX) forgetOldest()
      send(key, adopt(tx))
    }
    return sent.get(key)?.stays ?? []
  }

  function at(moment: number): ChainState {
    const head = clock.headAt(moment)
    const blockOf = (tx: string): number | null =>
      staysOf(tx).find((stay) => stay.block <= head && moment < stay.until)?.block ?? null
    /** Number of reorganisations that replaced a block. Each changes its hash. */
    const forksOf = (block: number): number =>
      reorgs.filter((reorg) => reorg.at <= moment && reorg.from <= block).length
    return {
      head,
      confirmed: Math.max(0, head - clock.confirmDepth),
      final: clock.finalAt(head),
      timeOf: clock.timeOf,
      hashOf: (block) => chainHash(kind, `${seed}/block/${block}/${forksOf(block)}`),
      find(tx) {
        const block = blockOf(tx)
        if (block === null) return null
        const { error = null, transfers = settings.transfersOf?.(tx) ?? [] } = sent.get(keyOf(tx))?.fate ?? {}
        return { block, error, transfers: error === null ? transfers : [] }
      },
      txsOf: (block) => (blocks.get(block) ?? []).filter((tx) => blockOf(tx) === block),
    }
  }

  return {
    kind,
    genesis: chainHash(kind, `${seed}/block/0/0`),
    chainId: 1 + (digestOf(`${seed}/chain`)[0] ?? 0),
    tokens: settings.tokens ?? {},
    txOf: (number) => txIn(kind, `${seed}/tx/${number}`),
    addressOf: (name) => addressIn(kind, `${seed}/address/${name}`),
    send,
    truth: (tx) => truthOf(kind, at(now()), tx),
    finalAt(tx) {
      const last = staysOf(tx).at(-1)
      return last === undefined || last.until !== Infinity ? null : clock.momentOfFinal(last.block)
    },
    at,
    now,
  }
}

function staysIn(fate: Fate, sentAt: number, clock: BlockClock): readonly Stay[] {
  const { landsAfterMs = clock.blockMs, reorg } = fate
  if (landsAfterMs === null) return []
  const block = clock.headAt(sentAt + landsAfterMs) + 1
  if (reorg === undefined) return [{ block, until: Infinity }]
  const until = clock.timeOf(block) + reorg.afterMs
  if (until >= clock.momentOfFinal(block))
    throw new RangeError('a reorganisation must come before its block is final')
  const first = { block, until }
  if (reorg.againAfterMs === null) return [first]
  return [first, { block: clock.headAt(until + reorg.againAfterMs) + 1, until: Infinity }]
}

type BlockClock = ReturnType<typeof blockClock>

/** Numbers and moments of the blocks of a pretend chain. */
function blockClock(settings: ChainSettings) {
  const solana = settings.kind === 'solana'
  const blockMs = settings.blockMs ?? (solana ? 400 : 12_000)
  const finalDepth = settings.finalDepth ?? (solana ? 31 : 64)
  const step = settings.finalStep ?? (solana ? 1 : 32)
  const startedAt = settings.startedAt ?? settings.now() - 600_000
  const timeOf = (block: number): number => startedAt + block * blockMs
  return {
    blockMs,
    confirmDepth: settings.confirmDepth ?? (solana ? 1 : 32),
    timeOf,
    headAt: (moment: number) => Math.max(0, Math.floor((moment - startedAt) / blockMs)),
    /** Final block when `head` is the newest. */
    finalAt: (head: number) => Math.max(0, Math.floor((head - finalDepth) / step) * step),
    momentOfFinal: (block: number) => timeOf(Math.ceil(block / step) * step + finalDepth),
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
