import type { DatabaseSync, StatementSync } from 'node:sqlite'
import TinyQueue from 'tinyqueue'
import type { ContestId } from '../protocol/seq.ts'
import { text } from './store/codec.ts'
import type { Walk } from './store/reader.ts'
import { lineEndOf, txKey } from './store/tx-index.ts'

/**
 * A run: ascending or descending seqs that an index holds in order, such as the events of one code, or of one contest
 * and code. `read` gives the first `count` seqs between two exclusive bounds.
 */
export type Run = (low: number, high: number, count: number) => readonly number[]

/** The runs of one walk, without repeated seqs. */
type EventRuns = Readonly<{
  /** Runs that together hold the events of a filter apart from `nonzero`; null when no index narrows it. */
  runsOf(walk: Walk, codes: readonly number[] | null): readonly Run[] | null
}>

/** Seqs in the first chunk of a run, and the factor by which each further chunk is longer. */
const FIRST_CHUNK = 4
const CHUNK_GROWTH = 4

/** The stretch of a run that has been read. */
type Cursor = { readonly run: Run; chunk: readonly number[]; at: number; asked: number; ended: boolean }

/**
 * Merges runs in order. Gives a function that takes the next `count` seqs, fewer at the end. It reads one chunk of each
 * run, and then at most four times the seqs that are taken.
 */
export function mergeRuns(
  runs: readonly Run[],
  { order, after, before }: Pick<Walk, 'order' | 'after' | 'before'>,
): (count: number) => readonly number[] {
  const sign = order === 'asc' ? 1 : -1
  const headOf = ({ chunk, at }: Cursor): number => chunk[at] ?? 0

  function read(cursor: Cursor): void {
    const last = cursor.chunk.at(-1)
    const [low, high] = order === 'asc' ? [last ?? after, before] : [after, last ?? before]
    cursor.chunk = cursor.run(low, high, cursor.asked)
    cursor.at = 0
    cursor.ended = cursor.chunk.length < cursor.asked
    cursor.asked *= CHUNK_GROWTH
  }

  const cursors = runs.map((run): Cursor => {
    const cursor = { run, chunk: [], at: 0, asked: FIRST_CHUNK, ended: false }
    read(cursor)
    return cursor
  })
  const heap = new TinyQueue<Cursor>(
    cursors.filter(({ chunk }) => chunk.length > 0),
    (a, b) => sign * (headOf(a) - headOf(b)),
  )

  return (count) => {
    const taken: number[] = []
    for (let cursor = heap.pop(); cursor !== undefined; cursor = heap.pop()) {
      // Seqs of this run before the head of the next run need no comparison with the others.
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

/** Prepares the statements that read runs. `keyOf` gives the index key of a transaction. */
export function openEventRuns(db: DatabaseSync, keyOf: typeof txKey): EventRuns {
  const statements = {
    asc: prepareRuns(db, 'ASC'),
    desc: prepareRuns(db, 'DESC'),
  }
  const codesOfContest = db.prepare(CODES_OF_CONTEST)

  function contestCodes(contestId: ContestId, codes: ReadonlySet<number> | null): readonly number[] {
    const seen = seqsOf(codesOfContest, contestId)
    return codes === null ? seen : seen.filter((code) => codes.has(code))
  }

  return {
    runsOf({ filter, tx, order }, codes) {
      const { ofTx, ofContest, ofCode } = statements[order]
      const { contestIds } = filter
      if (tx !== null) {
        const terms = [keyOf(tx), lineEndOf(tx), listed(codes), listed(contestIds)] as const
        return [(low, high, count) => seqsOf(ofTx, ...terms, low, high, count)]
      }
      if (contestIds !== null) {
        const wanted = codes === null ? null : new Set(codes)
        return [...new Set(contestIds)].flatMap((contestId) =>
          contestCodes(contestId, wanted).map(
            (code): Run =>
              (low, high, count) =>
                seqsOf(ofContest, contestId, code, low, high, count),
          ),
        )
      }
      if (codes === null) return null
      return codes.map(
        (code): Run =>
          (low, high, count) =>
            seqsOf(ofCode, code, low, high, count),
      )
    },
  }
}

/** The codes of a contest's events, ascending: one look-up in the index for each. */
const CODES_OF_CONTEST = `WITH RECURSIVE codes_of_contest(code) AS (
    SELECT (SELECT min(code) FROM events INDEXED BY events_contest WHERE contest = ?1)
    UNION ALL
    SELECT (SELECT min(e.code) FROM events AS e INDEXED BY events_contest
      WHERE e.contest = ?1 AND e.code > codes_of_contest.code)
    FROM codes_of_contest WHERE codes_of_contest.code IS NOT NULL)
  SELECT json_group_array(code) AS found FROM codes_of_contest WHERE code IS NOT NULL`

function prepareRuns(db: DatabaseSync, direction: 'ASC' | 'DESC') {
  const run = (from: string): StatementSync =>
    db.prepare(
      `SELECT json_group_array(seq) AS found FROM (SELECT ${from} ORDER BY seq ${direction} LIMIT ?)`,
    )
  return {
    ofCode: run('seq FROM events INDEXED BY events_code WHERE code = ? AND seq > ? AND seq < ?'),
    ofContest: run(
      'seq FROM events INDEXED BY events_contest WHERE contest = ? AND code = ? AND seq > ? AND seq < ?',
    ),
    // Index keys can collide, so the end of the line is compared too.
    ofTx: db.prepare(
      `SELECT json_group_array(seq) AS found FROM (
         SELECT t.seq FROM tx_events AS t CROSS JOIN events AS e ON e.seq = t.seq
         WHERE t.key = ?1 AND t.seq > ?5 AND t.seq < ?6 AND substr(e.line, -length(?2)) = ?2
           AND (?3 IS NULL OR e.code IN (SELECT value FROM json_each(?3)))
           AND (?4 IS NULL OR e.contest IN (SELECT value FROM json_each(?4)))
         ORDER BY t.seq ${direction} LIMIT ?7)`,
    ),
  }
}

function listed(values: readonly number[] | null): string | null {
  return values === null ? null : JSON.stringify(values)
}

function seqsOf(statement: StatementSync, ...terms: (number | string | null)[]): readonly number[] {
  return JSON.parse(text(statement.get(...terms) ?? {}, 'found'))
}
