import type { PatternFigures, Patterns } from '../../src/protocol/endpoints/figure-endpoints.ts'
import { asOf, decimal, type Effect, effects, knownAt, launch, plays, type PublicEntry, sum } from './book.ts'
import { bucketEnd, bucketStart, iso, moment, weekday } from './calendar.ts'
import { BURNED, PAID_IN_PRIZES, SPENT_ON_PLAY } from './figures.ts'

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)
const DAYS = [1, 2, 3, 4, 5, 6, 7]

/** Kinds of play with spending in some cell, sorted. */
function playKinds(cells: readonly (readonly Effect[])[]): readonly string[] {
  const kinds = new Set<string>()
  for (const { subject } of cells.flat()) if (subject.event.type === 'play') kinds.add(subject.event.kind)
  const spentIn = (pile: readonly Effect[], kind: string): bigint =>
    sum(pile, (event) => SPENT_ON_PLAY(event) && event.kind === kind)
  return [...kinds].toSorted().filter((kind) => cells.some((pile) => spentIn(pile, kind) !== 0n))
}

function figures(pile: readonly Effect[], kinds: readonly string[]): PatternFigures {
  const byKind: Record<string, string> = {}
  for (const kind of kinds) {
    byKind[kind] = decimal(sum(pile, (event) => SPENT_ON_PLAY(event) && event.kind === kind))
  }
  return {
    spentOnPlay: decimal(sum(pile, SPENT_ON_PLAY)),
    byKind,
    paidInPrizes: decimal(sum(pile, PAID_IN_PRIZES)),
    burned: decimal(sum(pile, BURNED)),
    plays: plays(pile, () => true),
  }
}

/** `/patterns`: effects of the range by local hour and day of the week. Local time is UTC + `tz` minutes. */
export function patterns(
  book: readonly PublicEntry[],
  fromMs: number,
  toMs: number,
  tz = 0,
  nowMs?: number,
): Patterns {
  const from = bucketStart(fromMs, 'minute')
  const to = bucketEnd(toMs, 'minute')
  const all = effects(book).filter(({ entry: { event } }) => event.atMs >= from && event.atMs < to)
  const localMs = (effect: Effect): number => effect.entry.event.atMs + tz * 60_000
  const isHour = (effect: Effect, hour: number): boolean =>
    Math.floor((localMs(effect) - bucketStart(localMs(effect), 'day')) / 3_600_000) === hour
  const isDay = (effect: Effect, day: number): boolean => weekday(localMs(effect)) === day
  const days = DAYS.map((day) => ({ day, pile: all.filter((effect) => isDay(effect, day)) }))
  const hoursOf = (pile: readonly Effect[]): readonly (readonly Effect[])[] =>
    HOURS.map((hour) => pile.filter((effect) => isHour(effect, hour)))
  const kinds = playKinds(days.flatMap(({ pile }) => hoursOf(pile)))
  return {
    // Counts events up to the end of the range, so that an answer about the past never changes.
    asOf: asOf(knownAt(book, to - 1)),
    now: moment(nowMs),
    ...launch(book),
    from: iso(from),
    fromMs: from,
    to: iso(to),
    toMs: to,
    tz,
    byHour: HOURS.map((hour) => ({
      hour,
      ...figures(
        all.filter((effect) => isHour(effect, hour)),
        kinds,
      ),
    })),
    byDay: days.map(({ day, pile }) => ({ day, ...figures(pile, kinds) })),
    cells: days.flatMap(({ day, pile }) =>
      hoursOf(pile).map((inHour, hour) => ({ day, hour, ...figures(inHour, kinds) })),
    ),
  }
}
