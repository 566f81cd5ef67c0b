export const DAY = 86_400_000

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

const daysOfYear = (year: number): number => (isLeap(year) ? 366 : 365)

const daysOfMonths = (year: number): readonly number[] => [
  31,
  isLeap(year) ? 29 : 28,
  31,
  30,
  31,
  30,
  31,
  31,
  30,
  31,
  30,
  31,
]

const digits = (value: number, width: number): string => String(value).padStart(width, '0')

/** `yyyy-mm-ddThh:mm:ss.mmmZ`, computed by counting years and months from 1970. */
export function iso(ms: number): string {
  let days = Math.floor(ms / DAY)
  let rest = ms - days * DAY
  let year = 1970
  while (days < 0) {
    year -= 1
    days += daysOfYear(year)
  }
  while (days >= daysOfYear(year)) {
    days -= daysOfYear(year)
    year += 1
  }
  let month = 0
  for (const length of daysOfMonths(year)) {
    if (days < length) break
    days -= length
    month += 1
  }
  const hour = Math.floor(rest / 3_600_000)
  rest -= hour * 3_600_000
  const minute = Math.floor(rest / 60_000)
  rest -= minute * 60_000
  const second = Math.floor(rest / 1000)
  const date = `${digits(year, 4)}-${digits(month + 1, 2)}-${digits(days + 1, 2)}`
  return `${date}T${digits(hour, 2)}:${digits(minute, 2)}:${digits(second, 2)}.${digits(rest - second * 1000, 3)}Z`
}

/** A present moment as answers state it, or null when an answer does not depend on it. */
export function moment(ms: number | undefined): Readonly<{ at: string; atMs: number }> | null {
  return ms === undefined ? null : { at: iso(ms), atMs: ms }
}

/** 1 = Monday to 7 = Sunday. The first of January 1970 was a Thursday. */
export function weekday(ms: number): number {
  const daysSinceMonday = (((Math.floor(ms / DAY) + 3) % 7) + 7) % 7
  return daysSinceMonday + 1
}

export type Width = 'minute' | 'hour' | 'day' | 'week' | 'month'

/** Length of a bucket. That of a month is near enough to choose a range, and nothing else. */
export const WIDTH_MS: Readonly<Record<Width, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
}

/** Start of the bucket of a moment. */
export function bucketStart(ms: number, bucket: Width): number {
  const midnight = Math.floor(ms / DAY) * DAY
  if (bucket === 'month') return midnight - (Number(iso(ms).slice(8, 10)) - 1) * DAY
  if (bucket === 'week') return midnight - (weekday(ms) - 1) * DAY
  if (bucket === 'day') return midnight
  return midnight + Math.floor((ms - midnight) / WIDTH_MS[bucket]) * WIDTH_MS[bucket]
}

/** Start of the bucket after the one that begins at a moment. */
export function nextStart(start: number, bucket: Width): number {
  // Every month ends within 31 days, and the next one within 59.
  return bucket === 'month' ? bucketStart(start + 31 * DAY, bucket) : start + WIDTH_MS[bucket]
}

/** First start of a bucket at or after a moment. */
export function bucketEnd(ms: number, bucket: Width): number {
  const start = bucketStart(ms, bucket)
  return start === ms ? ms : nextStart(start, bucket)
}

/** Starts of all buckets of a range, whose ends are rounded outwards. */
export function bucketStarts(fromMs: number, toMs: number, bucket: Width): readonly number[] {
  const starts: number[] = []
  const end = bucketEnd(toMs, bucket)
  for (let at = bucketStart(fromMs, bucket); at < end; at = nextStart(at, bucket)) starts.push(at)
  return starts
}
