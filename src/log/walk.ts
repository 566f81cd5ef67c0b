import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assert } from '../protocol/brand.ts'
import type { Seq } from '../protocol/seq.ts'
import { seqOf } from '../protocol/seq.ts'
import { bytes, number, text } from './codec.ts'
import type { Filter, Framing, Walk, Walked } from './reader.ts'

/** Each framing as an SQL expression over a row: the matches leave the store as one blob, never as objects. */
const EXPRESSIONS: Readonly<Record<Framing, string>> = {
  json: "group_concat(line, ',')",
  ndjson: "group_concat(line || char(10), '')",
  sse: "group_concat('id: ' || seq || char(10) || 'data: ' || line || char(10) || char(10), '')",
  csv: "group_concat(line || char(10), '')",
}

/** A line as a CSV row. Its values come from closed alphabets without comma, quote or line break. */
const CSV_LINE =
  /\{"seq":(\d+),"type":"(\w+)","kind":"(\w+)","at":"([^"]+)","atMs":(\d+),"contestId":(null|\d+),"kots":(null|"[^"]*"),"tx":(null|"[^"]*")\}\n/g

const NOTHING = new Uint8Array(0)

/** Opens the walk over a store's events: a page, a history of the stream, a CSV, each with its framing. */
export function openWalk(db: DatabaseSync): (walk: Walk, framing: Framing) => Walked {
  const statements = new Map<string, StatementSync>()
  const codes = db.prepare('SELECT code, type, kind FROM kinds')

  function prepared(sql: string): StatementSync {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  /** The codes that a filter lets in, as one JSON parameter; null = every. */
  function codesOf({ types, kind }: Filter): string | null {
    if (types === null && kind === null) return null
    const matching = codes
      .all()
      .filter((row) => types === null || types.some((type) => type === text(row, 'type')))
      .filter((row) => kind === null || kind === text(row, 'kind'))
    return JSON.stringify(matching.map((row) => number(row, 'code')))
  }

  return (walk, framing) => {
    const { filter, order, after, before, limit, scanMax } = walk
    assert(limit >= 1 && scanMax >= 1, `a walk of ${limit} events in ${scanMax} goes nowhere`)
    // The stretch that is examined: from `after` upwards, or from `before` downwards.
    const low = order === 'asc' ? after : Math.max(after, before - 1 - scanMax)
    const high = order === 'asc' ? Math.min(before, after + scanMax + 1) : before
    if (high - low <= 1)
      return { bytes: NOTHING, count: 0, scannedTo: order === 'asc' ? after : before, hasMore: false }
    const codeList = codesOf(filter)
    const where = [
      'seq > ? AND seq < ?',
      codeList === null ? '' : 'AND code IN (SELECT value FROM json_each(?))',
      filter.contestId === null ? '' : 'AND contest = ?',
      filter.nonzero ? 'AND nonzero = 1' : '',
    ].join(' ')
    const statement = prepared(
      `SELECT count(*) AS count, min(seq) AS first, max(seq) AS last, CAST(${EXPRESSIONS[framing]} AS BLOB) AS bytes
       FROM (SELECT seq, line FROM events WHERE ${where} ORDER BY seq ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT ?)`,
    )
    const row = statement.get(
      low,
      high,
      ...(codeList === null ? [] : [codeList]),
      ...(filter.contestId === null ? [] : [filter.contestId]),
      limit,
    )
    assert(row !== undefined, 'an aggregate has a row')
    const count = number(row, 'count')
    const full = count === limit
    const edge = order === 'asc' ? high - 1 : low + 1
    const scannedTo: Seq = seqOf(full ? number(row, order === 'asc' ? 'last' : 'first') : edge)
    const hasMore = order === 'asc' ? scannedTo < before - 1 : scannedTo > after + 1
    const found = count === 0 ? NOTHING : bytes(row, 'bytes')
    return { bytes: framing === 'csv' ? csvOf(found) : found, count, scannedTo, hasMore }
  }
}

function csvOf(lines: Uint8Array): Uint8Array {
  const rows = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength)
    .toString('utf8')
    .replace(CSV_LINE, (_line, seq, type, kind, at, atMs, contestId, kots, tx) => {
      const cells = [seq, type, kind, at, atMs, cell(contestId), cell(kots), cell(tx)]
      return `${cells.join(',')}\r\n`
    })
  return Buffer.from(rows)
}

function cell(json: string): string {
  if (json === 'null') return ''
  return json.startsWith('"') ? json.slice(1, -1) : json
}
