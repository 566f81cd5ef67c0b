import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assert } from '../protocol/brand.ts'
import { escapeFormula } from '../protocol/foreign-text.ts'
import type { Seq } from '../protocol/seq.ts'
import { seqOf } from '../protocol/seq.ts'
import { bytes, number, text } from './store/codec.ts'
import type { LogFilter, Framing, Walk, WalkResult } from './store/reader.ts'
import { lineEndOf, txKey } from './store/tx-index.ts'

/** SQL expression of each framing. SQLite joins the matching lines into one blob, so that no row becomes an object. */
const EXPRESSIONS: Readonly<Record<Framing, string>> = {
  json: "group_concat(line, ',')",
  ndjson: "group_concat(line || char(10), '')",
  sse: "group_concat('id: ' || seq || char(10) || 'data: ' || line || char(10) || char(10), '')",
  csv: "group_concat(line || char(10), '')",
}

/** The fields of an event line, for its CSV row. None of their values can contain a comma, quote or line break. */
const CSV_LINE =
  /\{"seq":(\d+),"type":"(\w+)","kind":"(\w+)","at":"([^"]+)","atMs":(\d+),"contestId":(null|\d+),"kots":(null|"[^"]*"),"tx":(null|"[^"]*")\}\n/g

const NOTHING = new Uint8Array(0)

/** Opens the walk that reads events for pages, streams and CSV files. */
export function openWalk(
  db: DatabaseSync,
  keyOf: typeof txKey = txKey,
): (walk: Walk, framing: Framing) => WalkResult {
  const prepared = openStatements(db)
  const codes = db.prepare('SELECT code, type, kind FROM kinds')

  /** The codes that match a filter, as one JSON parameter; null when all match. */
  function codesOf({ types, kinds }: LogFilter): string | null {
    if (types === null && kinds === null) return null
    const matching = codes
      .all()
      .filter((row) => types === null || types.some((type) => type === text(row, 'type')))
      .filter((row) => kinds === null || kinds.includes(text(row, 'kind')))
    return JSON.stringify(matching.map((row) => number(row, 'code')))
  }

  return (walk, framing) => {
    const { filter, tx, order, after, before, limit, scanMax } = walk
    assert(limit >= 1 && scanMax >= 1, `a walk of ${limit} events in ${scanMax} goes nowhere`)
    const { low, high } = stretchOf(walk)
    if (high - low <= 1)
      return { bytes: NOTHING, count: 0, scannedTo: order === 'asc' ? after : before, hasMore: false }
    const codeList = codesOf(filter)
    const named = tx === null ? null : ([keyOf(tx), low, high, lineEndOf(tx)] as const)
    const row = prepared(statementOf(walk, codeList !== null, framing)).get(
      ...(named === null ? [low, high] : [...named, scanMax]),
      ...(codeList === null ? [] : [codeList]),
      ...(filter.contestIds === null ? [] : [JSON.stringify(filter.contestIds)]),
      limit,
    )
    assert(row !== undefined, 'an aggregate has a row')
    const count = number(row, 'count')
    const bound = named === null ? undefined : prepared(LAST_NAMED[order])
    const last = count === limit ? row : bound?.get(...(named ?? []), scanMax - 1)
    const edge = order === 'asc' ? high - 1 : low + 1
    const scannedTo: Seq = seqOf(last === undefined ? edge : number(last, order === 'asc' ? 'last' : 'first'))
    const hasMore = order === 'asc' ? scannedTo < before - 1 : scannedTo > after + 1
    const found = count === 0 ? NOTHING : bytes(row, 'bytes')
    return { bytes: framing === 'csv' ? csvOf(found) : found, count, scannedTo, hasMore }
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

/** The range of seqs to examine, both ends exclusive: from `after` upwards, or from `before` downwards. */
function stretchOf({ tx, order, after, before, scanMax }: Walk): Readonly<{ low: number; high: number }> {
  if (tx !== null) return { low: after, high: before }
  return order === 'asc'
    ? { low: after, high: Math.min(before, after + scanMax + 1) }
    : { low: Math.max(after, before - 1 - scanMax), high: before }
}

const DIRECTIONS = { asc: 'ASC', desc: 'DESC' } as const

/** Events that name a transaction. Index keys can collide, so the end of the line is compared too. */
const NAMED = `tx_events AS t CROSS JOIN events AS e ON e.seq = t.seq
  WHERE t.key = ? AND t.seq > ? AND t.seq < ? AND substr(e.line, -length(?4)) = ?4`

/** The event at which a walk over a transaction's events reaches `scanMax`, if it has so many. */
const LAST_NAMED = {
  asc: `SELECT e.seq AS last FROM ${NAMED} ORDER BY t.seq ASC LIMIT 1 OFFSET ?`,
  desc: `SELECT e.seq AS first FROM ${NAMED} ORDER BY t.seq DESC LIMIT 1 OFFSET ?`,
} as const

function statementOf({ filter, tx, order }: Walk, ofCodes: boolean, framing: Framing): string {
  const direction = DIRECTIONS[order]
  const conditions = [
    ...(tx === null ? ['seq > ? AND seq < ?'] : []),
    ...(ofCodes ? ['code IN (SELECT value FROM json_each(?))'] : []),
    ...(filter.contestIds === null ? [] : ['contest IN (SELECT value FROM json_each(?))']),
    ...(filter.nonzero ? ['nonzero = 1'] : []),
  ]
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  // The index already gives a transaction's events in order; an ORDER BY here would read all of them first.
  const matches =
    tx === null
      ? `events ${where} ORDER BY seq ${direction}`
      : `(SELECT e.seq, e.line, e.code, e.contest, e.nonzero FROM ${NAMED} ORDER BY t.seq ${direction} LIMIT ?) ${where}`
  return `SELECT count(*) AS count, min(seq) AS first, max(seq) AS last, CAST(${EXPRESSIONS[framing]} AS BLOB) AS bytes
     FROM (SELECT seq, line FROM ${matches} LIMIT ?)`
}

function csvOf(lines: Uint8Array): Uint8Array {
  const rows = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength)
    .toString('utf8')
    .replace(CSV_LINE, (_line, seq, type, kind, at, atMs, contestId, kots, tx) => {
      const cells = [seq, type, kind, at, atMs, cell(contestId), cell(kots), escapeFormula(cell(tx))]
      return `${cells.join(',')}\r\n`
    })
  return Buffer.from(rows)
}

function cell(json: string): string {
  if (json === 'null') return ''
  return json.startsWith('"') ? json.slice(1, -1) : json
}
