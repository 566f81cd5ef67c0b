/** A measured value at a place on some axis, such as sessions so far. Series of different lives of a process differ. */
export type Point = Readonly<{ life: number; x: number; y: number }>

/** Slope of a line through points, and its 95 % confidence interval. */
type Slope = Readonly<{ slope: number; low: number; high: number }>

/** Points of one bin: their lowest value stands for them, since a garbage collection may be due at any time. */
const BIN_POINTS = 6
/** A life shorter than this says nothing about a slope. */
const LIFE_BINS_MIN = 3
/** Factor of the standard error in a 95 % interval with few points. */
const STUDENT = 2.1
/** Share of a life that is warm-up. */
const WARM_UP = 0.2

/** The points of each life after its warm-up, and of each bin of them the lowest. */
function settledOf(points: readonly Point[]): readonly Point[] {
  const lives = Map.groupBy(points, ({ life }) => life)
  return [...lives.values()].flatMap((own) => {
    const warm = own.slice(Math.ceil(own.length * WARM_UP))
    const bins: Point[] = []
    for (let at = 0; at + BIN_POINTS <= warm.length; at += BIN_POINTS) {
      const bin = warm.slice(at, at + BIN_POINTS)
      const lowest = bin.reduce((low, point) => (point.y < low.y ? point : low))
      bins.push(lowest)
    }
    return bins.length < LIFE_BINS_MIN ? [] : bins
  })
}

/** Least squares of points, with a level of its own for each life. Null when there are too few. */
export function slopeOf(points: readonly Point[]): Slope | null {
  const lives = Map.groupBy(settledOf(points), ({ life }) => life)
  let [count, xx, xy, yy] = [0, 0, 0, 0]
  for (const own of lives.values()) {
    const [x, y] = [meanOf(own.map((point) => point.x)), meanOf(own.map((point) => point.y))]
    for (const point of own) {
      count += 1
      xx += (point.x - x) ** 2
      xy += (point.x - x) * (point.y - y)
      yy += (point.y - y) ** 2
    }
  }
  const freedom = count - lives.size - 1
  if (freedom < 1 || xx === 0) return null
  const slope = xy / xx
  const error = STUDENT * Math.sqrt(Math.max(0, yy - slope * xy) / freedom / xx)
  return { slope, low: slope - error, high: slope + error }
}

/**
 * Whether values grow without end: by more than `limit` for each unit, surely, in the first half of the run and in the
 * second. A step up is in one half only.
 */
export function isLeaking(points: readonly Point[], limit: number): boolean {
  const middle = (Math.min(...xsOf(points)) + Math.max(...xsOf(points))) / 2
  const halves = [points.filter(({ x }) => x < middle), points.filter(({ x }) => x >= middle)]
  return halves.every((half) => (slopeOf(half)?.low ?? 0) > limit)
}

/** Median of the last quarter divided by that of the first. */
export function lastToFirst(values: readonly number[]): number {
  const quarter = Math.max(1, Math.floor(values.length / 4))
  const first = medianOf(values.slice(0, quarter))
  return first === 0 ? Infinity : medianOf(values.slice(-quarter)) / first
}

function medianOf(values: readonly number[]): number {
  const ordered = values.toSorted((a, b) => a - b)
  return ordered[Math.floor(ordered.length / 2)] ?? 0
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function xsOf(points: readonly Point[]): readonly number[] {
  return points.map(({ x }) => x)
}
