import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { isAsked } from '../../project/answers/contest-order.ts'
import { hasWords, joinWords } from '../../project/answers/contest-words.ts'
import type { ContestFilter, ContestSearch, FoundContests, Head } from '../../project/fold/books.ts'
import { closingKey, type ContestState, poolOf, prizeTotals, unpaidOf } from '../../project/fold/contest.ts'
import { assert } from '../../protocol/brand.ts'
import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import { SEARCH_EXAMINED_MAX } from '../../protocol/parameters.ts'
import {
  CONTEST_OUTCOMES,
  CONTEST_STATUSES,
  type ContestOutcome,
  type ContestSort,
  type ContestStatus,
} from '../../protocol/enumerations.ts'
import { type ContestId, contestIdOf, type Seq } from '../../protocol/seq.ts'
import { number, type Row, text } from '../store/codec.ts'
import { amountKey } from './amount-key.ts'
import { contestsIn, CONTESTS_SINCE, listedTo } from './contest-list.ts'
import { contestOfRow } from './contest-rows.ts'
import type { StoredContests } from './stored-repository.ts'

/** Most words of a search that are looked up. The longest words come first. */
const WORDS_LOOKED_UP = 3
/** Text that sorts after every text that begins with a word, because words do not contain this character. */
const AFTER_WORDS = '\u{10FFFF}'

/** Position of a contest in the order of a search: its key, then its seq. */
type Place = Readonly<{ key: number | string; seq: number; id: ContestId }>

type Order = Readonly<{
  column: string
  descending: boolean
  keyOf(contest: ContestState): Place['key']
}>

const ORDERS: Readonly<Record<ContestSort, Order>> = {
  newest: { column: 'scheduled_seq', descending: true, keyOf: ({ scheduledSeq }) => scheduledSeq },
  closesAt: { column: 'closes_at', descending: false, keyOf: closingKey },
  pool: { column: 'pool', descending: true, keyOf: (contest) => amountKey(poolOf(contest)) },
  prizesNotRedeemed: {
    column: 'not_redeemed',
    descending: true,
    keyOf: (contest) => amountKey(unpaidOf(prizeTotals(contest))),
  },
}

/**
 * Opens the search for contests. The list lags behind by up to one block of events, so contests with later events are
 * read from their own rows. The number of rows read is bounded, whatever the number of contests.
 */
export function openContestSearch(
  db: DatabaseSync,
  { rowOf, contestOf }: StoredContests,
  shownOf: (row: Row) => ContestWire,
  examinedMax: number = SEARCH_EXAMINED_MAX,
): (search: ContestSearch, head: Head) => FoundContests {
  const sql = prepare(db, examinedMax)
  /** Current rows of the contests with events after a seq. */
  function changedSince(seq: Seq): ReadonlyMap<ContestId, Row> {
    const rows = contestsIn(sql.changed.all(seq)).map(rowOf)
    return new Map(rows.filter((row) => row !== undefined).map((row) => [idOf(row), row]))
  }

  return (search, head) => {
    const order = ORDERS[search.sort]
    const compare = comparing(order)
    const from = search.after === null ? undefined : contestOf(search.after)
    const start = from === undefined ? null : placeOf(order, from)
    const isAhead = (place: Place): boolean => start === null || compare(start, place) < 0
    const fresh = changedSince(listedTo(head.seq))
    const listed =
      sql.byWords(search, order) ?? sql.byOrder(search, order, { start, fresh: new Set(fresh.keys()) })
    const places = [
      ...listed.places.filter(({ id }) => !fresh.has(id)),
      ...[...fresh.values()]
        .map(contestOfRow)
        .filter((contest) => isFound(contest, search))
        .map((contest) => placeOf(order, contest)),
    ]
    const { end } = listed
    const found = places
      .filter((place) => isAhead(place) && (end === null || compare(place, end) <= 0))
      .toSorted(compare)
    const shown = found.slice(0, search.limit)
    const last = found.length > search.limit ? shown.at(-1) : end
    return {
      contests: shown.flatMap(({ id }) => {
        const row = fresh.get(id) ?? rowOf(id)
        return row === undefined ? [] : [shownOf(row)]
      }),
      next: last?.id ?? null,
    }
  }
}

function isFound(contest: ContestState, search: ContestSearch): boolean {
  return isAsked(contest, search) && hasWords(joinWords(contest.title), search.words)
}

/** Contests of one status and outcome. The indexes of contests begin with both. */
type Part = readonly [status: ContestStatus, outcome: ContestOutcome | null]

/** Parts that a filter asks for; null for all contests. An operator's disorder can make any of them. */
export function contestParts(filter: ContestFilter): readonly Part[] | null {
  return filter.statuses === null && filter.outcomes === null ? null : partsIn(filter)
}

function partsIn({ statuses, outcomes }: ContestFilter): readonly Part[] {
  const ofStatus = outcomes ?? [null, ...CONTEST_OUTCOMES]
  return [...new Set(statuses ?? CONTEST_STATUSES)].flatMap((status) =>
    ofStatus.map((outcome): Part => [status, outcome]),
  )
}

function placeOf(order: Order, contest: ContestState): Place {
  return { key: order.keyOf(contest), seq: contest.scheduledSeq, id: contest.id }
}

function comparing({ descending }: Order): (a: Place, b: Place) => number {
  const sign = descending ? -1 : 1
  return (a, b) => sign * (a.key === b.key ? a.seq - b.seq : a.key < b.key ? -1 : 1)
}

/** Contests of the list. `end` is the last examined one; null when all were examined. */
type Listed = Readonly<{ places: readonly Place[]; end: Place | null }>

type ListedSearch = Readonly<{
  changed: StatementSync
  /** Contests by the rarest word. Null without words, and when each word has too many contests. */
  byWords(search: ContestSearch, order: Order): Listed | null
  /** Contests in their order, after `start`. */
  byOrder(search: ContestSearch, order: Order, from: WalkFrom): Listed
}>

function prepare(db: DatabaseSync, examinedMax: number): ListedSearch {
  const range = 'FROM contest_words WHERE word >= ? AND word < ?'
  const count = db.prepare(`SELECT count(*) AS rows FROM (SELECT 1 ${range} LIMIT ?)`)
  const ofWord = db.prepare(
    `SELECT l.* FROM contest_words w CROSS JOIN contest_list l ON l.scheduled_seq = w.scheduled_seq
     WHERE w.word >= ? AND w.word < ?`,
  )
  const walks = new Map(Object.values(ORDERS).map((order) => [order, openWalks(db, order, examinedMax)]))
  return {
    changed: db.prepare(CONTESTS_SINCE),
    byWords({ words, ...filter }, { column }) {
      const bounds = (word: string): readonly [string, string] => [word, `${word}${AFTER_WORDS}`]
      const rare = words
        .slice(0, WORDS_LOOKED_UP)
        .find((word) => Number(count.get(...bounds(word), examinedMax + 1)?.['rows']) <= examinedMax)
      if (rare === undefined) return null
      // A title may have several words that begin alike.
      const rows = new Map(ofWord.all(...bounds(rare)).map((row) => [number(row, 'id'), row]))
      const parts = contestParts(filter)
      const places = [...rows.values()]
        .filter((row) => hasWords(text(row, 'words'), words))
        .filter((row) => isInPart(row, parts))
        .map((row) => placeOfRow(row, column))
      return { places, end: null }
    },
    byOrder(search, order, from) {
      const walk = walks.get(order)
      assert(walk !== undefined, 'each order has its walk')
      const parts = walk(search, from)
      const ends = parts.flatMap(({ end }) => end ?? [])
      return {
        places: parts.flatMap(({ places }) => places),
        end: ends.toSorted(comparing(order))[0] ?? null,
      }
    },
  }
}

/** Start of a walk (null for the first contest), and the contests whose rows in the list are outdated. */
type WalkFrom = Readonly<{ start: Place | null; fresh: ReadonlySet<ContestId> }>

/** Walks the list in an order. Each part has its own walk, so that no contest of another part is read. */
function openWalks(
  db: DatabaseSync,
  order: Order,
  examinedMax: number,
): (search: ContestSearch, from: WalkFrom) => readonly Listed[] {
  const ofPart = openWalk(db, order, 'status = ? AND outcome IS ?')
  const isFilled = db.prepare('SELECT 1 FROM contest_list WHERE status = ? AND outcome IS ? LIMIT 1')
  // Only the newest contests have an order over all statuses.
  const ofAll = order.column === 'scheduled_seq' ? openWalk(db, order, 'scheduled_seq > 0') : null
  return (search, from) => {
    const { words, limit } = search
    if (contestParts(search) === null && ofAll !== null) {
      return [ofAll(search, [], { ...from, rows: words.length === 0 ? limit + 1 : examinedMax })]
    }
    const asked = partsIn(search).filter((part) => isFilled.get(...part) !== undefined)
    const rows = words.length === 0 ? limit + 1 : Math.ceil(examinedMax / asked.length)
    return asked.map((part) => ofPart(search, part, { ...from, rows }))
  }
}

type PartialWalk = (
  search: ContestSearch,
  part: readonly SQLInputValue[],
  from: WalkFrom & Readonly<{ rows: number }>,
) => Listed

/** Walks the rows of a part. Returns at most `rows` current ones. */
function openWalk(db: DatabaseSync, { column, descending }: Order, part: string): PartialWalk {
  const direction = descending ? 'DESC' : 'ASC'
  const select = (where: string): string =>
    `SELECT scheduled_seq, ${column}, id, words FROM contest_list WHERE ${where}
     ORDER BY ${column} ${direction}, scheduled_seq ${direction} LIMIT ? OFFSET ?`
  const statements = (where: string) => ({
    matching: db.prepare(`SELECT * FROM (${select(where)}) WHERE instr(words, ?) > 0`),
    ends: db.prepare(select(where)),
  })
  const first = statements(part)
  const later = statements(`${part} AND (${column}, scheduled_seq) ${descending ? '<' : '>'} (?, ?)`)
  return ({ words }, of, { start, fresh, rows }) => {
    const { matching, ends } = start === null ? first : later
    const values = start === null ? of : [...of, start.key, start.seq]
    const [longest] = words
    // Outdated rows are skipped, so as many more are read.
    const read = rows + fresh.size
    const places = matching
      .all(...values, read, 0, longest === undefined ? '' : ` ${longest}`)
      .filter((row) => hasWords(text(row, 'words'), words))
      .map((row) => placeOfRow(row, column))
    const tail = ends.all(...values, fresh.size + 1, rows - 1)
    const last = tail.length <= fresh.size ? undefined : tail.findLast((row) => !fresh.has(idOf(row)))
    return { places, end: last === undefined ? null : placeOfRow(last, column) }
  }
}

function isInPart(row: Row, parts: readonly Part[] | null): boolean {
  return (
    parts === null ||
    parts.some(([status, outcome]) => status === row['status'] && outcome === row['outcome'])
  )
}

function idOf(row: Row): ContestId {
  return contestIdOf(number(row, 'id'))
}

function placeOfRow(row: Row, column: string): Place {
  const key = row[column]
  return {
    key: typeof key === 'string' ? key : number(row, column),
    seq: number(row, 'scheduled_seq'),
    id: idOf(row),
  }
}
