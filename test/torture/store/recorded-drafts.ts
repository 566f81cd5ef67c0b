import { base58 } from '@scure/base'
import type { Random } from '../../../sim/random.ts'

type Draft = Readonly<Record<string, unknown>>

/** Drafts of a seed, each with a ref of its own. */
export type Drafts = Readonly<{ random: Random; some(count: number): readonly Draft[] }>

/** Opens drafts that write every table of the store. */
export function openDrafts(random: Random): Drafts {
  let number = 0
  const next = (): Draft => {
    number += 1
    const named = { ref: `draft-${number}`, kots: `${number}.000000001` }
    const contestId = (number % 7) + 1
    const details = { price: `0.${String(number).padStart(12, '0')}` }
    return random.pick<Draft>([
      { ...named, type: 'trade', kind: 'buy' },
      { ...named, type: 'treasury', kind: 'deposit' },
      { ref: named.ref, type: 'price', kind: 'usd', details },
      { ...named, type: 'play', kind: 'entry', contestId },
      { ...named, type: 'pool', kind: 'sponsor', contestId },
      { ...named, type: 'prize', kind: 'winner', contestId },
      { ...named, type: 'payout', kind: 'winner', contestId, tx: base58.encode(random.bytes(64)) },
    ])
  }
  return { random, some: (count) => Array.from({ length: count }, next) }
}
