import { DAY_MS, HOUR_MS } from '../src/protocol/moment.ts'
import type { Market } from './market.ts'
import type { Random } from './random.ts'

/** Course of a contest, decided when it is planned. */
type Fate = 'held' | 'postponed' | 'extended' | 'cancelled' | 'withdrawn'

/** State of a contest in the simulator until it is paid. */
export type SimContest = {
  readonly id: number
  readonly title: string
  readonly fate: Fate
  readonly series: ContestSeries
  /** Price of one play per kind, in billionths. */
  readonly units: ReadonlyMap<string, bigint>
  opensAt: number
  closesAt: number
  /** Whether its end is published. The end of a contest of an open series is announced shortly before. */
  isEndKnown: boolean
  state: 'upcoming' | 'running' | 'paying'
  /** Amount spent on its plays, and the part that went into its pool. */
  spent: bigint
  shared: bigint
}

/** Series of contests of one kind. */
export type ContestSeries = Readonly<{
  /** Whether a contest opens on this UTC day (days since 1970). */
  opensOn(day: number): boolean
  openHour: number
  lengthMs: number
  /** Days between its announcement and its opening. */
  leadDays: number
  /** Number of plays as a multiple of the daily contest. */
  weight: number
  /** Amount that the platform adds to its pool, in whole tokens. */
  topUp: number
  /** Probability that a sponsor adds to its pool. */
  sponsored: number
  title(day: number, random: Random): string
  /** Terms of a series without a planned end, which pays prizes while it runs. */
  open?: OpenTerms
}>

/** Terms of an open series. */
type OpenTerms = Readonly<{
  /** Days from the start of the platform to the first contest of the series. */
  sinceDays: number
  /** Time before its close at which the close is announced. */
  noticeMs: number
  /** A prize of the day, in whole tokens. */
  dailyPrize: number
  /** Misspelt title of the announcement. The contest is renamed after it has opened. */
  wrongTitle(title: string): string
}>

const THEMES = [
  ['Night Markets', 'Rooftops', 'First Light', 'Rainy Windows', 'Street Cats', 'Old Signs', 'Harbour Cranes'],
  ['Paper and Scissors', 'One Line Only', 'Tiny Kingdoms', 'Neon Gardens', 'Robots at Rest', 'Lost Gloves'],
  ['Breakfast Abroad', 'Long Shadows', 'Kitchen Chemistry', 'Winter Sports', 'Bridges', 'The Empty Chair'],
].flat()

const RIVALS = [
  'Mountains',
  'Sea',
  'Tea',
  'Coffee',
  'Trains',
  'Bicycles',
  'Pixels',
  'Ink',
  'Autumn',
  'Spring',
]
const SPRINTS = ['Caption Sprint', 'Daily Sketch', 'Photo of the Day', 'One-Minute Story', 'Daily Remix']
const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)
const EPOCH_WEEKDAY = 3

const weekday = (day: number): number => (day + EPOCH_WEEKDAY) % 7
const dateOf = (day: number): Date => new Date(day * DAY_MS)
const oneOf = (words: readonly string[], random: Random): string => words[random.below(words.length)] ?? ''

/** Series of the platform, which overlap: a sprint a day, two duels and a round a week, a cup and a studio a month. */
export const SERIES: readonly ContestSeries[] = [
  {
    opensOn: () => true,
    openHour: 12,
    lengthMs: 26 * HOUR_MS,
    leadDays: 1,
    weight: 1,
    topUp: 1200,
    sponsored: 0.05,
    title: (day, random) => `${SPRINTS[day % SPRINTS.length] ?? ''}: ${oneOf(THEMES, random)}`,
  },
  {
    opensOn: (day) => weekday(day) === 1 || weekday(day) === 4,
    openHour: 16,
    lengthMs: 3 * DAY_MS,
    leadDays: 2,
    weight: 0.8,
    topUp: 3500,
    sponsored: 0.15,
    title(_day, random) {
      const first = random.below(RIVALS.length)
      const second = (first + 1 + random.below(RIVALS.length - 1)) % RIVALS.length
      return `Duel: ${RIVALS[first] ?? ''} vs ${RIVALS[second] ?? ''}`
    },
  },
  {
    opensOn: (day) => weekday(day) === 0,
    openHour: 9,
    lengthMs: 6 * DAY_MS + 12 * HOUR_MS,
    leadDays: 4,
    weight: 1.2,
    topUp: 9000,
    sponsored: 0.3,
    title: (day, random) =>
      `Weekly Round ${Math.floor((day + EPOCH_WEEKDAY) / 7) % 52 || 52}: ${oneOf(THEMES, random)}`,
  },
  {
    opensOn: (day) => dateOf(day).getUTCDate() === 2,
    openHour: 18,
    lengthMs: 25 * DAY_MS,
    leadDays: 5,
    weight: 1,
    topUp: 40_000,
    sponsored: 1,
    title: (day) => `${MONTHS[dateOf(day).getUTCMonth()] ?? ''} Grand Cup ${dateOf(day).getUTCFullYear()}`,
  },
  {
    opensOn: (day) => dateOf(day).getUTCDate() === 8,
    openHour: 10,
    // Longer than a month, so that one of them always runs.
    lengthMs: 33 * DAY_MS,
    leadDays: 3,
    weight: 0.2,
    topUp: 24_000,
    sponsored: 0.5,
    title: (day) => `Open Studio, ${MONTHS[dateOf(day).getUTCMonth()] ?? ''}`,
    open: {
      sinceDays: 40,
      noticeMs: 3 * DAY_MS,
      dailyPrize: 400,
      wrongTitle: (title) => title.replace('Studio', 'Stduio'),
    },
  },
]

/** Kinds of play: price in US cents, share of all totals, plays in one total. */
export const PLAYS = [
  { kind: 'vote', cents: 4n, share: 0.46, many: 102 },
  { kind: 'entry', cents: 32n, share: 0.24, many: 27 },
  { kind: 'boost', cents: 16n, share: 0.2, many: 42 },
  { kind: 'tip', cents: 8n, share: 0.1, many: 24 },
] as const

export type Play = (typeof PLAYS)[number]

/** Trillionths of a dollar in a cent, times billionths in a token. */
const CENT_TOKENS = 10_000_000_000n * 1_000_000_000n

/** Prices of the plays of a contest in billionths of a token, fixed when the contest is planned. */
export function unitsOf(market: Market): ReadonlyMap<string, bigint> {
  return new Map(PLAYS.map((play) => [play.kind, (play.cents * CENT_TOKENS) / market.price()]))
}

/** Fate of a contest. The first contests have every fate once, and later ones have a random fate. */
export function fateOf(id: number, random: Random): Fate {
  const early = EARLY_FATES.get(id)
  if (early !== undefined) return early
  return random.weighted<Fate>([
    ['held', 88],
    ['postponed', 4],
    ['extended', 4],
    ['cancelled', 2],
    ['withdrawn', 1],
  ])
}

const EARLY_FATES: ReadonlyMap<number, Fate> = new Map([
  [1, 'held'],
  [2, 'held'],
  [4, 'postponed'],
  [6, 'cancelled'],
  [8, 'extended'],
  [10, 'withdrawn'],
])
