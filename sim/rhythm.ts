import { DAY_MS, HOUR_MS } from '../src/protocol/moment.ts'

/** Activity of players at each local hour: lowest before morning, highest in the evening. */
const BY_LOCAL_HOUR = [
  0.45, 0.28, 0.16, 0.1, 0.08, 0.1, 0.2, 0.38, 0.52, 0.6, 0.66, 0.74, 0.92, 0.84, 0.74, 0.76, 0.9, 1.12, 1.42,
  1.76, 1.98, 1.9, 1.42, 0.87,
] as const

/** Activity on each day of the local week, Monday to Sunday. */
const BY_LOCAL_DAY = [0.86, 0.86, 0.9, 0.94, 1.08, 1.32, 1.28] as const

/** Time zones of the players: hours ahead of UTC, and share of the players. */
const ZONES = [
  [1, 0.56],
  [-5, 0.27],
  [8, 0.17],
] as const

/** Time constant of the platform's growth. `GROWTH_MAX` is the final growth as a multiple of the first size. */
const GROWTH_MS = 100 * DAY_MS
const GROWTH_MAX = 1.6

const WEEK_HOURS = 168
/** 1970-01-01 was a Thursday. */
const THURSDAY = 3

const BY_WEEK_HOUR: readonly number[] = Array.from({ length: WEEK_HOURS }, (_, hour) =>
  ZONES.reduce((sum, [ahead, share]) => sum + share * local(hour + ahead), 0),
)

/** Activity of the platform at a moment of the UTC week: 1 on average, about 0.3 at its lowest. */
export function busyness(ms: number): number {
  const hour = Math.floor(ms / HOUR_MS) + THURSDAY * 24
  return BY_WEEK_HOUR[hour % WEEK_HOURS] ?? 1
}

/** Size of the platform as a multiple of its first size: 1 at the start, 2.6 in the end. */
export function growth(sinceStartMs: number): number {
  return 1 + GROWTH_MAX * (1 - Math.exp(-sinceStartMs / GROWTH_MS))
}

function local(weekHour: number): number {
  const hour = (weekHour + WEEK_HOURS) % WEEK_HOURS
  return (BY_LOCAL_HOUR[hour % 24] ?? 1) * (BY_LOCAL_DAY[Math.floor(hour / 24)] ?? 1)
}
