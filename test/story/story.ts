import { negate, parseDraftAmount, parseDraftPrice } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import type { Entry } from '../../src/protocol/event.ts'
import type { Month, Ms } from '../../src/protocol/moment.ts'
import { parseAt } from '../../src/protocol/moment.ts'
import type { EventType } from '../../src/protocol/rules.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'
import type { MemoryLog } from './memory-log.ts'
import { openMemoryLog } from './memory-log.ts'

/** One event as a test tells it; the seq follows from its place, what is left out does not apply. */
export type Told = Readonly<{
  at: string
  is: `${EventType}/${string}`
  contest?: number
  kots?: string
  details?: Details
}>

/** A log in memory that holds what is told. A correction may leave out its amount and its contest. */
export function logOf(story: readonly Told[]): MemoryLog {
  const log = openMemoryLog()
  for (const told of story) log.add(entryOf(told, log.entries()))
  return log
}

/** A moment that a test writes. */
export function time(at: string): Ms {
  const ms = parseAt(at)
  if (ms === undefined) throw new Error(`${at} is no moment`)
  return ms
}

/** The details of a price. */
export function priced(price: string): Details {
  const parsed = parseDraftPrice(price)
  if (parsed === undefined) throw new Error(`${price} is no price`)
  return { price: parsed }
}

/** A month that a test writes. */
export function month(text: string): Month {
  return text as Month
}

/** The correction of the event `seq`. */
export function correcting(seq: number): Details {
  return { corrects: seqOf(seq) }
}

function entryOf({ at, is, contest, kots, details }: Told, before: readonly Entry[]): Entry {
  const [type = '', kind = ''] = is.split('/')
  const corrected = type === 'correction' ? before[(details?.corrects ?? 0) - 1]?.event : undefined
  const amount = kots === undefined ? null : (parseDraftAmount(kots) ?? null)
  return {
    event: {
      seq: seqOf(before.length + 1),
      type: type as EventType,
      kind,
      atMs: time(at),
      contestId: contest === undefined ? (corrected?.contestId ?? null) : contestIdOf(contest),
      kots: corrected === undefined || corrected.kots === null ? amount : negate(corrected.kots),
      tx: type === 'payout' ? `tx-${before.length + 1}` : null,
    },
    details: details ?? null,
  }
}
