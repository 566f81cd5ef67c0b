import type { PublicEntry } from './book.ts'
import { bucketEnd, bucketStart, nextStart, type Width } from './calendar.ts'

/** Buckets of a range whose beginning is not given. */
export const DEFAULT_BUCKETS: Readonly<Record<Width, number>> = {
  minute: 360,
  hour: 168,
  day: 90,
  week: 52,
  month: 36,
}

/** Bounds that a question gives. */
type Given = Readonly<{ from?: number; to?: number }>

/** Range of a question without one or both of its bounds. The book is not empty. */
export function defaultRange(
  book: readonly PublicEntry[],
  nowMs: number,
  [bucket, buckets]: readonly [bucket: Width, buckets: number],
  { from, to }: Given,
): readonly [from: number, to: number] {
  const end = to === undefined ? nextStart(bucketStart(nowMs, bucket), bucket) : bucketEnd(to, bucket)
  if (from !== undefined) return [from, end]
  let start = end
  for (let left = buckets; left > 0; left -= 1) start = bucketStart(start - 1, bucket)
  const launch = bucketStart(book[0]?.event.atMs ?? nowMs, bucket)
  return [launch < end && launch > start ? launch : start, end]
}
