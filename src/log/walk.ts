import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assert } from '../protocol/brand.ts'
import { seqOf } from '../protocol/seq.ts'
import { openEventRuns } from './event-runs.ts'
import { mergeRuns, type Run } from './store/index-runs.ts'
import { bytes, number, type Row, text } from './store/codec.ts'
import type { DetailedWalk, Framing, LogFilter, Walk, WalkResult } from './store/reader.ts'
import { txKey } from './store/tx-index.ts'
import { escapeFormula } from '../protocol/foreign-text.ts'

/** SQL expression of each framing. SQLite joins the matching lines into one blob, so that no row becomes an object. */
const EXPRESSIONS: Readonly<Record<Framing, string>> = {
  json: "group_concat(line, ',')",
  ndjson: "group_concat(line || char(10), '')",
  sse: "group_concat('id: ' || seq || char(10) || 'data: ' || line || char(10) || char(10), '')",
  csv: "group_concat(line || char(10), '')",
}

const NOTHING = new Uint8Array(0)
/** Events that can be read in the time of one index look-up. */
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
 * Takes seqs from `next` until `limit` of them match, with `nonzero` at most `examineMax` seqs. `last` is the last
 * examined seq; null when all were examined.
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

/** Opens the codes of the types and kinds that pass a filter; null when all pass. Codes are only ever added. */
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

/** Whether to read every event of the range, because an index would need about as many look-ups. */
function isShort({ filter, tx, after, before, examineMax }: Walk, codes: readonly number[] | null): boolean {
  const events = before - after - 1
  const runs = filter.contestIds?.length ?? codes?.length ?? 0
  return tx === null && events <= runs * EVENTS_PER_RUN && (!filter.nonzero || events <= examineMax)
}

/** Range of seqs to read, both ends exclusive: from `after` upwards, or from `before` downwards. */
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

/** Fields of an event line, for its CSV row. None of their values can contain a comma, quote or line break. */
const CSV_LINE =
  /\{"seq":(\d+),"type":"(\w+)","kind":"(\w+)","at":"([^"]+)","atMs":(\d+),"contestId":(null|\d+),"kots":(null|"[^"]*"),"tx":(null|"[^"]*")\}\n/g

/** CSV rows of event lines, each of which ends with a line break. */
function csvRows(lines: Uint8Array): Uint8Array {
  return Buffer.from(
    formatCsvRows(Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).toString('utf8')),
  )
}

/** CSV row of one event line. Its last cell has the details as quoted JSON, or nothing. */
function csvRowWithDetails(line: string, details: string | null): string {
  const row = formatCsvRows(`${line}\n`).slice(0, -LINE_END.length)
  const cell = details === null ? '' : `"${escapeFormula(details).replaceAll('"', '""')}"`
  return `${row},${cell}${LINE_END}`
}

const LINE_END = '\r\n'

function formatCsvRows(lines: string): string {
  return lines.replace(CSV_LINE, (_line, seq, type, kind, at, atMs, contestId, kots, tx) => {
    const cells = [seq, type, kind, at, atMs, cellOf(contestId), cellOf(kots), escapeFormula(cellOf(tx))]
    return `${cells.join(',')}${LINE_END}`
  })
}

function cellOf(json: string): string {
  if (json === 'null') return ''
  return json.startsWith('"') ? json.slice(1, -1) : json
}

/** Text of one event and its details line (null without details), in each framing but JSON. */
const FRAMES: Readonly<
  Record<Exclude<Framing, 'json'>, (seq: number, line: string, details: string | null) => string>
> = {
  ndjson: (_, line, details) => (details === null ? `${line}\n` : `${details}\n${line}\n`),
  sse: (seq, line, details) =>
    `${details === null ? '' : `event: details\ndata: ${details}\n\n`}id: ${seq}\ndata: ${line}\n\n`,
  csv: (seq, line, details) => csvRowWithDetails(line, details === null ? null : detailsIn(seq, details)),
}

/**
 * Opens the walk that reads events with their details. `walk` finds the events, and their lines are stored bytes. The
 * result ends before the event that would exceed `bytesMax`, but has at least one event.
 */
export function openDetailedWalk(
  db: DatabaseSync,
  walk: (walk: Walk, framing: Framing) => WalkResult,
): (walk: Walk, framing: Framing, bytesMax: number) => DetailedWalk {
  // In the order of the list, so that reading can stop at the limit.
  const stored = db.prepare(
    'SELECT d.seq, d.line FROM json_each(?) CROSS JOIN details AS d ON d.seq = json_each.value',
  )
  return (asked, framing, bytesMax) => {
    const found = walk(asked, 'ndjson')
    const lines = Buffer.from(found.bytes).toString('utf8').split('\n').slice(0, -1)
    const seqs = lines.map(seqIn)
    const detailed = stored.iterate(JSON.stringify(seqs))[Symbol.iterator]()
    const nextDetails = (): Stored | undefined => {
      const { value, done } = detailed.next()
      return done === true ? undefined : { seq: number(value, 'seq'), line: text(value, 'line') }
    }
    const events: string[] = []
    const details: string[] = []
    let size = 0
    let next = nextDetails()
    for (const [index, line] of lines.entries()) {
      const seq = seqs[index] ?? 0
      const own = next?.seq === seq ? next.line : null
      const frame = framing === 'json' ? line : FRAMES[framing](seq, line, own)
      const member = framing === 'json' && own !== null ? `"${seq}":${detailsIn(seq, own)}` : null
      size += Buffer.byteLength(frame) + (member === null ? 0 : Buffer.byteLength(member)) + SEPARATORS
      if (size > bytesMax && index > 0) return cutAt(index)
      events.push(frame)
      if (member !== null) details.push(member)
      if (own !== null) next = nextDetails()
    }
    return { ...found, ...joined() }

    function joined(): Pick<DetailedWalk, 'bytes' | 'details'> {
      return {
        bytes: Buffer.from(events.join(framing === 'json' ? ',' : '')),
        details: Buffer.from(details.join(',')),
      }
    }

    function cutAt(count: number): DetailedWalk {
      // A statement that is not read to its end must be closed.
      detailed.return?.()
      return { ...joined(), count, scannedTo: seqOf(seqs[count - 1] ?? 0), hasMore: true }
    }
  }
}

type Stored = Readonly<{ seq: number; line: string }>

/** Commas after an event and after its details. */
const SEPARATORS = 2

const LINE_START = '{"seq":'

function seqIn(line: string): number {
  const seq = Number(line.slice(LINE_START.length, line.indexOf(',')))
  assert(Number.isSafeInteger(seq), 'an event line begins with its seq')
  return seq
}

/** The details in their line, `{"seq":N,"details":{…}}`. */
function detailsIn(seq: number, line: string): string {
  const start = `${LINE_START}${seq},"details":`
  assert(line.startsWith(start), `the details line of ${seq} begins with its seq`)
  return line.slice(start.length, -1)
}
