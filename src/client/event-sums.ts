import { add, type Amount, parseAmount, ZERO } from '../protocol/amount.ts'
import type { EventWire } from '../protocol/event.ts'
import type { DetailedEvent } from './event-details.ts'

/** Sums of plays, prizes, loyalty payments and burns, in billionths; the same figures as in `/summary`. */
export type EventSums = Readonly<Record<'spentOnPlay' | 'paidInPrizes' | 'paidInLoyalty' | 'burned', Amount>>

/** Finds an event by its seq, as `daybook.event` does. */
export type FindEvent = (seq: number) => Promise<Pick<EventWire, 'kind'>>

/** A correction of a payout: its amount, its seq and that of the cancelled event. */
type Cancellation = Readonly<{ kots: Amount; seq: number; corrects: number }>

/**
 * Adds up events exactly, as `/summary` does. A correction counts with its negative amount in the figure of the event
 * that it cancels. The events may come in any order, each once, with their details (`details: true`).
 *
 * A correction of a payout does not say whether it cancels a prize, a refund or a loyalty payment. The kind of the
 * cancelled event decides. `find` is called for each cancelled event that is not among `events`, for example one before
 * the range. Without `find` the promise then rejects with a `RangeError`. Memory grows with the number of payouts.
 */
export async function sumOf(
  events: AsyncIterable<DetailedEvent> | Iterable<DetailedEvent>,
  find?: FindEvent,
): Promise<EventSums> {
  const sums = { spentOnPlay: ZERO, paidInPrizes: ZERO, paidInLoyalty: ZERO, burned: ZERO }
  const kindsOfPayouts = new Map<number, string>()
  const cancellations: Cancellation[] = []

  function count(type: string, kind: string, kots: Amount): void {
    if (type === 'play') sums.spentOnPlay = add(sums.spentOnPlay, kots)
    else if (type === 'burn') sums.burned = add(sums.burned, kots)
    else if (type === 'payout' && kind === 'loyalty') sums.paidInLoyalty = add(sums.paidInLoyalty, kots)
    else if (type === 'payout' && kind !== 'refund') sums.paidInPrizes = add(sums.paidInPrizes, kots)
  }

  for await (const one of events) {
    // A caller without types may pass events alone.
    if (!('event' in one)) throw new RangeError('sumOf needs details: read the events with details: true')
    const { event, details } = one
    const { seq, type, kind } = event
    const kots = amountOf(event)
    if (type === 'correction' && kind === 'payout') {
      cancellations.push({ kots, seq, corrects: details?.corrects ?? noDetails(seq) })
      continue
    }
    if (type === 'payout') kindsOfPayouts.set(seq, kind)
    // The kind of a correction is the type of the cancelled event. Only payouts also need the cancelled kind.
    if (type === 'correction') count(kind, '', kots)
    else count(type, kind, kots)
  }
  for (const { kots, seq, corrects } of cancellations) {
    const kind = kindsOfPayouts.get(corrects) ?? (await find?.(corrects))?.kind ?? notFound(seq, corrects)
    count('payout', kind, kots)
  }
  return sums
}

function amountOf({ seq, kots }: EventWire): Amount {
  const amount = kots === null ? ZERO : parseAmount(kots)
  if (amount === undefined) throw new RangeError(`the amount of seq ${seq} is malformed`)
  return amount
}

function noDetails(seq: number): never {
  throw new RangeError(`the correction at seq ${seq} has no details: read the events with details: true`)
}

function notFound(seq: number, corrects: number): never {
  throw new RangeError(
    `seq ${seq} corrects seq ${corrects}, which is not among the events: pass daybook.event as the second argument`,
  )
}
