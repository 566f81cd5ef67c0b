import { negate, parseDraftAmount, parseDraftPrice } from '../../src/protocol/amount.ts'
import type { Details } from '../../src/protocol/details.ts'
import type { Entry } from '../../src/protocol/event.ts'
import { type Month, type Ms, parseAt } from '../../src/protocol/moment.ts'
import type { EventType } from '../../src/protocol/rules.ts'
import { contestIdOf, seqOf } from '../../src/protocol/seq.ts'
import { type MemoryLog, openMemoryLog } from './memory-log.ts'

/** A short form of an event. Its seq is its position; absent fields are null. */
export type EventSketch = Readonly<{
  at: string
  is: `${EventType}/${string}`
  contest?: number
  kots?: string
  details?: Details
}>

/** A log in memory with these events. A correction may leave out its amount and its contest. */
export function logOf(sketches: readonly EventSketch[]): MemoryLog {
  const log = openMemoryLog()
  for (const sketch of sketches) log.add(entryOf(sketch, log.entries()))
  return log
}

/** Parses a moment. */
export function time(at: string): Ms {
  const ms = parseAt(at)
  if (ms === undefined) throw new Error(`${at} is no moment`)
  return ms
}

/** Details with a price. */
export function priced(price: string): Details {
  const parsed = parseDraftPrice(price)
  if (parsed === undefined) throw new Error(`${price} is no price`)
  return { price: parsed }
}

/** Parses a month. */
export function month(text: string): Month {
  return text as Month
}

/** Details of a correction of the event `seq`. */
export function correcting(seq: number): Details {
  return { corrects: seqOf(seq) }
}

function entryOf({ at, is, contest, kots, details }: EventSketch, before: readonly Entry[]): Entry {
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
