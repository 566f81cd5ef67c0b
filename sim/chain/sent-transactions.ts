import type { BlockClock } from './block-clock.ts'
import type { ChainSettings, Fate } from './chain-settings.ts'

/** Transactions that were sent to a pretend chain, and the blocks that they are in. */
type SentTransactions = Readonly<{
  send(tx: string, fate?: Fate): void
  /** In order of time. An unknown transaction is adopted, when the settings say so. */
  staysOf(tx: string): readonly Stay[]
  fateOf(tx: string): Fate
  /** Transactions that are in a block at some time, in order of sending. */
  candidatesOf(block: number): readonly string[]
  /** Number of reorganisations until a moment that replaced a block; each gives it another hash. */
  forksOf(block: number, moment: number): number
}>

/** Block of a transaction, and the moment of the reorganisation that takes it out. */
type Stay = Readonly<{ block: number; until: number }>
type Sent = Readonly<{ stays: readonly Stay[]; fate: Fate }>

/** Most transactions in memory of a chain that adopts; the oldest are forgotten. */
const ADOPTED_MAX = 100_000

export function openSentTransactions(settings: ChainSettings, clock: BlockClock): SentTransactions {
  const { kind, now, adopt } = settings
  const sent = new Map<string, Sent>()
  const blocks = new Map<number, string[]>()
  const reorgs: Readonly<{ at: number; from: number }>[] = []
  const keyOf = (tx: string): string => (kind === 'evm' ? tx.toLowerCase() : tx)

  const send = (id: string, fate: Fate = {}): void => {
    const tx = keyOf(id)
    if (sent.has(tx)) return
    const stays = staysIn(fate, fate.sentAt ?? now(), clock)
    sent.set(tx, { stays, fate })
    for (const { block, until } of stays) {
      const others = blocks.get(block)
      if (others === undefined) blocks.set(block, [tx])
      else others.push(tx)
      if (until !== Infinity) reorgs.push({ at: until, from: block })
    }
  }
  const forgetOldest = (): void => {
    const [oldest] = sent
    if (oldest === undefined) return
    const [tx, { stays }] = oldest
    sent.delete(tx)
    for (const { block } of stays) {
      const left = (blocks.get(block) ?? []).filter((other) => other !== tx)
      if (left.length === 0) blocks.delete(block)
      else blocks.set(block, left)
    }
  }
  return {
    send,
    staysOf(tx) {
      const key = keyOf(tx)
      if (adopt !== undefined && !sent.has(key)) {
        if (sent.size >= ADOPTED_MAX) forgetOldest()
        send(key, adopt(tx))
      }
      return sent.get(key)?.stays ?? []
    },
    fateOf: (tx) => sent.get(keyOf(tx))?.fate ?? {},
    candidatesOf: (block) => blocks.get(block) ?? [],
    forksOf: (block, moment) => reorgs.filter(({ at, from }) => at <= moment && from <= block).length,
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
