import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assert } from '../protocol/brand.ts'
import { seqOf } from '../protocol/seq.ts'
import { csvRows } from './csv-rows.ts'
import { mergeRuns, openEventRuns, type Run } from './event-runs.ts'
import { bytes, number, type Row, text } from './store/codec.ts'
import type { LogFilter, Framing, Walk, WalkResult } from './store/reader.ts'
import { txKey } from './store/tx-index.ts'

/** SQL expression of each framing. SQLite joins the matching lines into one blob, so that no row becomes an object. */
const EXPRESSIONS: Readonly<Record<Framing, string>> = {
  json: "group_concat(line, ',')",
  ndjson: "group_concat(line || char(10), '')",
  sse: "group_concat('id: ' || seq || char(10) || 'data: ' || line || char(10) || char(10), '')",
  csv: "group_concat(line || char(10), '')",
}

const NOTHING = new Uint8Array(0)
/** Events that are read in the time of one look-up in an index. */
const EVENTS_PER_RUN = 8
/** Events that are looked at together for their amount. */
const NONZERO_BATCH = 256

/** Opens the walk that reads events for pages, streams and CSV files. */
export function openWalk(
  db: DatabaseSync,
  keyOf: typeof txKey = txKey,
): (walk: Walk, framing: Framing) => WalkResult {
  const prepared = openStatements(db)
  const codesOf = openCodes(db)
  const { runsOf } = openEventRuns(db, keyOf)
  const amounts = db.prepare(
    'SELECT json_group_array(e.seq) AS found FROM json_each(?) CROSS JOIN events AS e ON e.seq = json_each.value WHERE e.nonzero = 1',
  )
  const nonzeroOf = (seqs: readonly number[]): readonly number[] =>
    JSON.parse(text(amounts.get(JSON.stringify(seqs)) ?? {}, 'found'))

  return (walk, framing) => {
    const { filter, order, after, before, limit, examineMax } = walk
    assert(limit >= 1 && examineMax >= 1, `a walk of ${limit} events in ${examineMax} goes nowhere`)
    if (before - after <= 1)
      return { bytes: NOTHING, count: 0, scannedTo: order === 'asc' ? after : before, hasMore: false }
    const codes = codesOf(filter)
    const runs = isShort(walk, codes) ? null : runsOf(walk, codes)
    const page = runs === null ? rangePage(walk, codes, framing) : indexPage(walk, runs, framing)
    const hasMore = order === 'asc' ? page.scannedTo < before - 1 : page.scannedTo > after + 1
    return { ...page, hasMore }
  }

  /** A page of all events of a range, or of those that pass a filter of a short range. */
  function rangePage(walk: Walk, codes: readonly number[] | null, framing: Framing): Page {
    const { filter, order, limit } = walk
    const { low, high } = stretchOf(walk)
    const row = prepared(rangeStatement(walk, codes !== null, framing)).get(
      low,
      high,
      ...(codes === null ? [] : [JSON.stringify(codes)]),
      ...(filter.contestIds === null ? [] : [JSON.stringify(filter.contestIds)]),
      limit,
    )
    assert(row !== undefined, 'an aggregate has a row')
    const count = number(row, 'count')
    const edge = order === 'asc' ? high - 1 : low + 1
    const last = count === limit ? number(row, order === 'asc' ? 'last' : 'first') : edge
    return { bytes: bytesOf(row, count, framing), count, scannedTo: seqOf(last) }
  }

  /** A page of the events that an index finds. */
  function indexPage(walk: Walk, runs: readonly Run[], framing: Framing): Page {
    const { order, after, before } = walk
    const { seqs, last } = findSeqs(walk, mergeRuns(runs, walk), nonzeroOf)
    const scannedTo = seqOf(last ?? (order === 'asc' ? before - 1 : after + 1))
    if (seqs.length === 0) return { bytes: NOTHING, count: 0, scannedTo }
    const row = prepared(linesStatement(framing)).get(JSON.stringify(seqs))
    assert(row !== undefined && number(row, 'count') === seqs.length, 'an index names only events')
    return { bytes: bytesOf(row, seqs.length, framing), count: seqs.length, scannedTo }
  }
}

type Page = Omit<WalkResult, 'hasMore'>

/**
 * Takes seqs from `next` until `limit` of them match. With `nonzero` that ends at `examineMax` seqs taken. `last` is the
 * last seq examined; null when all were.
 */
function findSeqs(
  { filter, limit, examineMax }: Walk,
  next: (count: number) => readonly number[],
  nonzeroOf: (seqs: readonly number[]) => readonly number[],
): Readonly<{ seqs: readonly number[]; last: number | null }> {
  if (!filter.nonzero) {
    const seqs = next(limit)
    return { seqs, last: seqs.length < limit ? null : (seqs.at(-1) ?? null) }
  }
  const found: number[] = []
  for (let examined = 0; ;) {
    const asked = Math.min(Math.max(limit - found.length, NONZERO_BATCH), examineMax - examined)
    const taken = next(asked)
    examined += taken.length
    found.push(...nonzeroOf(taken))
    if (found.length >= limit) return { seqs: found.slice(0, limit), last: found[limit - 1] ?? null }
    if (taken.length < asked) return { seqs: found, last: null }
    if (examined === examineMax) return { seqs: found, last: taken.at(-1) ?? null }
  }
}

/** Gives the codes of the types and kinds that pass a filter; null when all pass. Codes are only ever added. */
function openCodes(db: DatabaseSync): (filter: LogFilter) => readonly number[] | null {
  const newest = db.prepare('SELECT max(code) AS newest FROM kinds')
  const all = db.prepare('SELECT code, type, kind FROM kinds')
  let kinds: readonly Readonly<{ code: number; type: string; kind: string }>[] = []
  return ({ types, kinds: names }) => {
    if (types === null && names === null) return null
    if ((newest.get()?.['newest'] ?? 0) !== kinds.length)
      kinds = all
        .all()
        .map((row) => ({ code: number(row, 'code'), type: text(row, 'type'), kind: text(row, 'kind') }))
    const ofType = types === null ? null : new Set<string>(types)
    const named = names === null ? null : new Set(names)
    return kinds
      .filter(({ type, kind }) => (ofType?.has(type) ?? true) && (named?.has(kind) ?? true))
      .map(({ code }) => code)
  }
}

function openStatements(db: DatabaseSync): (sql: string) => StatementSync {
  const statements = new Map<string, StatementSync>()
  return (sql) => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
}

/** Whether to read every event of the range, because an index has about as many runs to look up. */
function isShort({ filter, tx, after, before, examineMax }: Walk, codes: readonly number[] | null): boolean {
  const events = before - after - 1
  const runs = filter.contestIds?.length ?? codes?.length ?? 0
  return tx === null && events <= runs * EVENTS_PER_RUN && (!filter.nonzero || events <= examineMax)
}

/** The range of seqs to read, both ends exclusive: from `after` upwards, or from `before` downwards. */
function stretchOf({
  filter,
  order,
  after,
  before,
  examineMax,
}: Walk): Readonly<{ low: number; high: number }> {
  if (!filter.nonzero) return { low: after, high: before }
  return order === 'asc'
    ? { low: after, high: Math.min(before, after + examineMax + 1) }
    : { low: Math.max(after, before - 1 - examineMax), high: before }
}

function rangeStatement({ filter, order }: Walk, ofCodes: boolean, framing: Framing): string {
  const conditions = [
    'seq > ? AND seq < ?',
    ...(ofCodes ? ['code IN (SELECT value FROM json_each(?))'] : []),
    ...(filter.contestIds === null ? [] : ['contest IN (SELECT value FROM json_each(?))']),
    ...(filter.nonzero ? ['nonzero = 1'] : []),
  ]
  return `SELECT count(*) AS count, min(seq) AS first, max(seq) AS last, CAST(${EXPRESSIONS[framing]} AS BLOB) AS bytes
     FROM (SELECT seq, line FROM events NOT INDEXED WHERE ${conditions.join(' AND ')}
       ORDER BY seq ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT ?)`
}

/** Joins the lines of a list of seqs, in the order of the list. */
function linesStatement(framing: Framing): string {
  return `SELECT count(*) AS count, CAST(${EXPRESSIONS[framing]} AS BLOB) AS bytes
     FROM (SELECT e.seq, e.line FROM json_each(?) CROSS JOIN events AS e ON e.seq = json_each.value)`
}

function bytesOf(row: Row, count: number, framing: Framing): Uint8Array {
  if (count === 0) return NOTHING
  return framing === 'csv' ? csvRows(bytes(row, 'bytes')) : bytes(row, 'bytes')
}
