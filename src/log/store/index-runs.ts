import TinyQueue from 'tinyqueue'

/**
 * Seqs in the order of an index, such as the events of one code, or the contests of one status and outcome. `first` has
 * the first `FIRST_CHUNK` seqs of the walk. `read` returns the first `count` seqs between two exclusive bounds.
 */
export type Run = Readonly<{
  first: readonly number[]
  read(low: number, high: number, count: number): readonly number[]
}>

/** Seqs in the first chunk of a run. */
export const FIRST_CHUNK = 8

/** Run that reads its own first chunk, between the exclusive bounds of the walk. */
export function runOf(
  read: Run['read'],
  { after, before }: Readonly<{ after: number; before: number }>,
): Run {
  return { first: read(after, before, FIRST_CHUNK), read }
}

/** Growth factor of the chunks of a run. */
const CHUNK_GROWTH = 4

/** The stretch of a run that has been read. */
type Cursor = { readonly run: Run; chunk: readonly number[]; at: number; asked: number; ended: boolean }

/**
 * Merges runs in order. The returned function takes the next `count` seqs, fewer at the end. After the first chunk of
 * each run, it reads at most four times as many seqs as it takes.
 */
export function mergeRuns(
  runs: readonly Run[],
  { order, after, before }: Readonly<{ order: 'asc' | 'desc'; after: number; before: number }>,
): (count: number) => readonly number[] {
  const sign = order === 'asc' ? 1 : -1
  const headOf = ({ chunk, at }: Cursor): number => chunk[at] ?? 0

  function read(cursor: Cursor): void {
    const last = cursor.chunk.at(-1)
    const [low, high] = order === 'asc' ? [last ?? after, before] : [after, last ?? before]
    cursor.asked *= CHUNK_GROWTH
    cursor.chunk = cursor.run.read(low, high, cursor.asked)
    cursor.at = 0
    cursor.ended = cursor.chunk.length < cursor.asked
  }

  const cursors = runs
    .filter(({ first }) => first.length > 0)
    .map((run): Cursor => {
      const ended = run.first.length < FIRST_CHUNK
      return { run, chunk: run.first, at: 0, asked: FIRST_CHUNK, ended }
    })
  const heap = new TinyQueue<Cursor>(cursors, (a, b) => sign * (headOf(a) - headOf(b)))

  return (count) => {
    const taken: number[] = []
    for (let cursor = heap.pop(); cursor !== undefined; cursor = heap.pop()) {
      // Seqs of this run before the first of the next run need no further comparison.
      const next = heap.peek()
      const end = next === undefined ? sign * Infinity : headOf(next)
      takeBefore(cursor, end, taken, count)
      if (cursor.at < cursor.chunk.length) heap.push(cursor)
      if (taken.length === count) break
    }
    return taken
  }

  /** Takes the seqs of a run that come before `end`, until `taken` has `count`. */
  function takeBefore(cursor: Cursor, end: number, taken: number[], count: number): void {
    while (taken.length < count && cursor.at < cursor.chunk.length && sign * (headOf(cursor) - end) < 0) {
      taken.push(headOf(cursor))
      cursor.at += 1
      if (cursor.at === cursor.chunk.length && !cursor.ended) read(cursor)
    }
  }
}
