import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { text } from './store/codec.ts'
import { FIRST_CHUNK, type Run, runOf } from './store/index-runs.ts'
import type { Walk } from './store/reader.ts'
import { lineEndOf, txKey } from './store/tx-index.ts'

/** Runs of one walk. Each seq is in one run only. */
type EventRuns = Readonly<{
  /** Runs that together have the events of a filter, ignoring `nonzero`; null when no index narrows it. */
  runsOf(walk: Walk, codes: readonly number[] | null): readonly Run[] | null
}>

/** Prepares the statements that read runs. `keyOf` returns the index key of a transaction. */
export function openEventRuns(db: DatabaseSync, keyOf: typeof txKey): EventRuns {
  const statements = {
    asc: prepareRuns(db, 'ASC'),
    desc: prepareRuns(db, 'DESC'),
  }
  return {
    runsOf({ filter, tx, order, after, before }, codes) {
      const { ofTx, ofContest, ofCode, firstOfContest, firstOfCodes } = statements[order]
      const { contestIds } = filter
      const bounds = { low: after, high: before, count: FIRST_CHUNK }
      if (tx !== null) {
        const terms = {
          key: keyOf(tx),
          end: lineEndOf(tx),
          codes: listed(codes),
          contests: listed(contestIds),
        }
        const read: Run['read'] = (low, high, count) => foundBy(ofTx, { ...terms, low, high, count })
        return [runOf(read, { after, before })]
      }
      if (contestIds === null && codes === null) return null
      if (contestIds === null)
        return firstChunks(firstOfCodes, { codes: listed(codes), ...bounds }).map(([code, first]) => ({
          first,
          read: (low, high, count) => foundBy(ofCode, { code, low, high, count }),
        }))
      return [...new Set(contestIds)].flatMap((contest) =>
        firstChunks(firstOfContest, { contest, codes: listed(codes), ...bounds }).map(([code, first]) => ({
          first,
          read: (low, high, count) => foundBy(ofContest, { contest, code, low, high, count }),
        })),
      )
    },
  }
}

/** Codes of a contest, ascending. Each costs one look-up in the index. */
const CODES_OF_CONTEST = `WITH RECURSIVE codes_of_contest(value) AS (
    SELECT (SELECT min(code) FROM events INDEXED BY events_contest WHERE contest = $contest)
    UNION ALL
    SELECT (SELECT min(e.code) FROM events AS e INDEXED BY events_contest
      WHERE e.contest = $contest AND e.code > codes_of_contest.value)
    FROM codes_of_contest WHERE codes_of_contest.value IS NOT NULL)`

function prepareRuns(db: DatabaseSync, direction: 'ASC' | 'DESC') {
  const chunk = (from: string): string =>
    `SELECT json_group_array(seq) AS found FROM (
       SELECT seq FROM ${from} AND seq > $low AND seq < $high ORDER BY seq ${direction} LIMIT $count)`
  // One statement for the first chunks of all codes, because there may be hundreds of codes.
  const firsts = (codes: string, from: string): string =>
    `SELECT json_group_array(json_array(value, json((${chunk(from)})))) AS found FROM ${codes}`
  const ofCode = 'events INDEXED BY events_code WHERE code ='
  const ofContest = 'events INDEXED BY events_contest WHERE contest = $contest AND code ='
  return {
    ofCode: db.prepare(chunk(`${ofCode} $code`)),
    ofContest: db.prepare(chunk(`${ofContest} $code`)),
    firstOfCodes: db.prepare(firsts('json_each($codes)', `${ofCode} json_each.value`)),
    firstOfContest: db.prepare(
      `${CODES_OF_CONTEST} ${firsts('codes_of_contest', `${ofContest} codes_of_contest.value`)}
       WHERE value IS NOT NULL AND ($codes IS NULL OR value IN (SELECT json_each.value FROM json_each($codes)))`,
    ),
    // Index keys can collide, so the end of the line is compared too.
    ofTx: db.prepare(
      `SELECT json_group_array(seq) AS found FROM (
         SELECT t.seq FROM tx_events AS t CROSS JOIN events AS e ON e.seq = t.seq
         WHERE t.key = $key AND t.seq > $low AND t.seq < $high AND substr(e.line, -length($end)) = $end
           AND ($codes IS NULL OR e.code IN (SELECT value FROM json_each($codes)))
           AND ($contests IS NULL OR e.contest IN (SELECT value FROM json_each($contests)))
         ORDER BY t.seq ${direction} LIMIT $count)`,
    ),
  }
}

function listed(values: readonly number[] | null): string | null {
  return values === null ? null : JSON.stringify(values)
}

type Terms = Readonly<Record<string, number | string | null>>

function foundBy(statement: StatementSync, terms: Terms): readonly number[] {
  return JSON.parse(text(statement.get(terms) ?? {}, 'found'))
}

/** Codes, each with the first chunk of its run. */
function firstChunks(
  statement: StatementSync,
  terms: Terms,
): readonly (readonly [code: number, first: readonly number[]])[] {
  return JSON.parse(text(statement.get(terms) ?? {}, 'found'))
}
