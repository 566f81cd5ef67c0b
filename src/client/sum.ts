import type { Amount } from '../protocol/amount.ts'
import { add, parseAmount, ZERO } from '../protocol/amount.ts'
import type { EventWire } from '../protocol/event.ts'
import { DaybookError } from './daybook-error.ts'

/** The exact sum of the amounts of events, in billionths; those without an amount add nothing. */
export function sumOf(events: Iterable<Pick<EventWire, 'kots'>>): Amount {
  let sum = ZERO
  for (const { kots } of events) {
    const amount = kots === null ? ZERO : parseAmount(kots)
    if (amount === undefined)
      throw new DaybookError('unexpected-answer', 'an event has an amount that is none')
    sum = add(sum, amount)
  }
  return sum
}
