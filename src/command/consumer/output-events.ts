import { styleText } from 'node:util'
import { unrunCell } from '../../protocol/csv.ts'
import type { EventWire } from '../../protocol/event.ts'
import { harmless } from '../terminal/output.ts'

/** How events are written: columns for people, the archive's lines, or RFC 4180. */
export const EVENT_FORMATS = ['table', 'jsonl', 'csv'] as const
export type EventFormat = (typeof EVENT_FORMATS)[number]

/** What a table is drawn on. */
type Canvas = Readonly<{ columns: number; drawn: boolean }>

/** Turns events into text. What begins a text, such as a header, comes before the first of them. */
type EventsText = (events: readonly EventWire[]) => string

export function openEventsText(format: EventFormat, canvas: Canvas): EventsText {
  switch (format) {
    case 'table':
      return openTable(canvas)
    case 'jsonl':
      // Keys stand in the order of the line, and nothing is between them: the same bytes as in the archive.
      return (events) => events.map((event) => `${JSON.stringify(event)}\n`).join('')
    case 'csv':
      return openCsv()
  }
}

const CSV_HEADER = 'seq,type,kind,at,atMs,contestId,kots,tx\r\n'

/** The CSV of `/events`. No value of an event needs quotes: its grammar leaves no room for comma, quote or line end. */
function openCsv(): EventsText {
  let header = CSV_HEADER
  return (events) => {
    const rows = events.map(
      ({ seq, type, kind, at, atMs, contestId, kots, tx }) =>
        `${seq},${type},${kind},${at},${atMs},${contestId ?? ''},${kots ?? ''},${unrunCell(tx ?? '')}\r\n`,
    )
    const text = header + rows.join('')
    header = ''
    return text
  }
}

const SEQ_CHARS = 8
const KIND_CHARS = 20
const CONTEST_CHARS = 6
const AMOUNT_CHARS = 20
/** What stands before the transaction, the gaps of two included. */
const FIXED_CHARS = SEQ_CHARS + 8 + KIND_CHARS + CONTEST_CHARS + AMOUNT_CHARS + 5 * 2
/** Characters of a shortened transaction's beginning and end: fewer than the least tell nothing. */
const TX_END_CHARS_MIN = 3
const TX_END_CHARS_MAX = 8

/** A row per event under the day that it is of; times are UTC. */
function openTable({ columns, drawn }: Canvas): EventsText {
  const dim = (text: string): string => (drawn ? styleText('dim', text, { validateStream: false }) : text)
  let day = ''
  return (events) =>
    events
      .map((event) => {
        const { seq, type, kind, contestId, kots, tx } = event
        const at = harmless(event.at)
        const date = at.slice(0, 10)
        const heading = date === day ? '' : `${dim(`${date} (UTC)`)}\n`
        day = date
        const row = [
          String(seq).padStart(SEQ_CHARS),
          dim(at.slice(11, 19)),
          harmless(`${type} ${kind}`).padEnd(KIND_CHARS),
          String(contestId ?? '').padStart(CONTEST_CHARS),
          groupAmount(harmless(kots ?? '')).padStart(AMOUNT_CHARS),
          dim(shortTx(harmless(tx ?? ''), columns - FIXED_CHARS)),
        ]
        return `${heading}${row.join('  ').trimEnd()}\n`
      })
      .join('')
}

/** `1 204.000000000`: groups of three before the point. */
export function groupAmount(amount: string): string {
  const [whole = '', decimals] = amount.split('.')
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ' ')
  return decimals === undefined ? grouped : `${grouped}.${decimals}`
}

/** Beginning and end of what is too long; nothing where there is no room to tell one from another. */
function shortTx(tx: string, room: number): string {
  if (tx.length <= room) return tx
  const ends = Math.min(TX_END_CHARS_MAX, Math.floor((room - 1) / 2))
  return ends < TX_END_CHARS_MIN ? '' : `${tx.slice(0, ends)}…${tx.slice(-ends)}`
}
