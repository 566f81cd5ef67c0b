import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import { formatAmount, formatPrice, parseAmount, parsePrice, type Amount } from '../../protocol/amount.ts'
import {
  type Details,
  DETAILS_FIELDS,
  formatDetails,
  MOMENT_FIELDS,
  parseDetails,
} from '../../protocol/details.ts'
import { type DaybookEvent, type Entry, formatEvent } from '../../protocol/event.ts'
import { formatAt, msOf } from '../../protocol/moment.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { isEventType } from '../../protocol/rules.ts'
import { contestIdOf, type Seq, seqOf } from '../../protocol/seq.ts'
import { BOOK_DETAILS, BOOK_EVENTS } from './book-tables.ts'
import { openInsert } from './book-file.ts'

/** A row of a book by column. */
export type BookRow = Readonly<Record<string, unknown>>

type ReadRow = Readonly<Record<string, SQLOutputValue>>
type WrittenValue = string | number | bigint | null

/** An entry with the exact lines that the log published. */
export type BookEntry = Entry & Readonly<{ line: string; detailsLine: string | null }>

/** Billionths of a token in a whole one. */
const WHOLE = 1_000_000_000n

/** Opens the writer of the log's own rows: events and their details. */
export function openEntryRows(db: DatabaseSync): (entry: BookEntry) => void {
  const event = openInsert(db, BOOK_EVENTS)
  const details = openInsert(db, BOOK_DETAILS)
  return ({ event: one, details: own, detailsLine }) => {
    event(eventValues(one))
    if (own !== null && detailsLine !== null) details(detailsValues(one.seq, own, detailsLine))
  }
}

function eventValues({ seq, type, kind, atMs, contestId, kots, tx }: DaybookEvent): readonly WrittenValue[] {
  const amounts = kots === null ? [null, null, null] : [formatAmount(kots), kots / WHOLE, kots % WHOLE]
  return [seq, type, kind, formatAt(atMs), atMs, contestId, ...amounts, tx]
}

function detailsValues(seq: Seq, details: Details, line: string): readonly WrittenValue[] {
  const values = DETAILS_FIELDS.flatMap((field): WrittenValue[] => {
    const value = details[field]
    if (MOMENT_FIELDS.has(field))
      return typeof value === 'number' ? [formatAt(msOf(value)), value] : [null, null]
    if (field === 'price') return [details.price === undefined ? null : formatPrice(details.price)]
    if (field === 'claim') return [details.claim === undefined ? null : Number(details.claim)]
    return [typeof value === 'string' || typeof value === 'number' ? value : null]
  })
  const json = innerJson(line)
  return [seq, ...values, json === formatDetails(details) ? null : json]
}

/** The JSON object inside a details line. */
function innerJson(line: string): string {
  return line.slice(line.indexOf(',"details":') + ',"details":'.length, -1)
}

/** Columns of an entry, from `events e` and `details d`. */
const ENTRY_COLUMNS: string = [
  // A number of JavaScript is too small for the whole tokens of a large amount.
  ...BOOK_EVENTS.columns.map(({ name }) =>
    name === 'kotsWhole' ? 'CAST(e.kotsWhole AS TEXT) AS kotsWhole' : `e.${name}`,
  ),
  'd.seq AS detailsSeq',
  ...BOOK_DETAILS.columns.slice(1).map(({ name }) => `d.${name}`),
].join(', ')
const ENTRIES = `SELECT ${ENTRY_COLUMNS} FROM events e LEFT JOIN details d ON d.seq = e.seq`

/** Opens the reader of one entry by its seq. */
export function openEntryReader(db: DatabaseSync): (seq: Seq) => Entry | undefined {
  const select = db.prepare(`${ENTRIES} WHERE e.seq = ?`)
  return (seq) => {
    const row = select.get(seq)
    return row === undefined ? undefined : entryOfRow(row)
  }
}

/**
 * Every entry of a book with its exact lines, in the order of the log. Throws a `WrongError` at a row with a column
 * that does not follow from the others, such as `at`.
 */
export function* checkedEntries(db: DatabaseSync): Generator<BookEntry, void> {
  const select = db.prepare(`${ENTRIES} ORDER BY e.seq`)
  for (const row of select.iterate()) {
    const seq = Number(row['seq'])
    const entry = withLines(row)
    const { event, details, detailsLine } = entry
    const expected = [
      ...eventValues(event),
      ...(details === null || detailsLine === null
        ? []
        : [event.seq, ...detailsValues(event.seq, details, detailsLine).slice(1)]),
    ]
    const found = Object.values(row)
    const isRight = expected.every((value, at) => String(found[at]) === String(value))
    if (!isRight) throw new WrongError(`seq ${seq}`, 'a column of its row is not that of the event')
    yield entry
  }
}

function withLines(row: ReadRow): BookEntry {
  try {
    const { event, details } = entryOfRow(row)
    const json = details === null ? null : (row['json'] ?? formatDetails(details))
    const detailsLine = json === null ? null : `{"seq":${event.seq},"details":${String(json)}}`
    return { event, details, line: formatEvent(event), detailsLine }
  } catch (cause) {
    throw new WrongError(`seq ${String(row['seq'])}`, 'its row is no event', { cause })
  }
}

function entryOfRow(row: ReadRow): Entry {
  const { kots, contestId, tx } = row
  const type = String(row['type'])
  assert(isEventType(type), 'a book has events of known types')
  return {
    event: {
      seq: seqOf(Number(row['seq'])),
      type,
      kind: String(row['kind']),
      atMs: msOf(Number(row['atMs'])),
      contestId: contestId === null ? null : contestIdOf(Number(contestId)),
      kots: kots === null ? null : amountOf(kots),
      tx: tx === null ? null : String(tx),
    },
    details: row['detailsSeq'] === null ? null : detailsOfRow(row),
  }
}

function detailsOfRow(row: ReadRow): Details {
  if (typeof row['json'] === 'string') return parseDetails(row['json'])
  const details: Record<string, unknown> = {}
  for (const field of DETAILS_FIELDS) {
    const value = MOMENT_FIELDS.has(field) ? row[`${field}Ms`] : row[field]
    if (value === null) continue
    details[field] = field === 'price' ? parsePrice(String(value)) : field === 'claim' ? value === 1 : value
  }
  return details
}

/** The amount of a text in a book. */
export function amountOf(text: unknown): Amount {
  const amount = typeof text === 'string' ? parseAmount(text) : undefined
  assert(amount !== undefined, 'a book has amounts with nine decimals')
  return amount
}
