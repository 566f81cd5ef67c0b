import { styleText } from 'node:util'
import type { DetailsByEvent, DetailsWire } from '../../client/event-details.ts'
import type { EventWire } from '../../protocol/event.ts'
import { escapeFormula } from '../../protocol/foreign-text.ts'
import { printable } from '../terminal/output.ts'

/** Formats of events: columns for people, lines as in the archive, or CSV (RFC 4180). */
export const EVENT_FORMATS = ['table', 'jsonl', 'csv'] as const
export type EventFormat = (typeof EVENT_FORMATS)[number]

/** Width of a table in columns, and whether it may have colours. */
type Canvas = Readonly<{ columns: number; drawn: boolean }>

/** Turns a batch of events into text. The first call also gives the header. Only a table shows details. */
type EventsText = (events: readonly EventWire[], details?: DetailsByEvent) => string

/** Opens a formatter of events. */
export function openEventsText(format: EventFormat, canvas: Canvas): EventsText {
  switch (format) {
    case 'table':
      return openTable(canvas)
    case 'jsonl':
      // The keys have the order of the line, so these are the bytes of the archive.
      return (events) => events.map((event) => `${JSON.stringify(event)}\n`).join('')
    case 'csv':
      return openCsv()
  }
}

const CSV_HEADER = 'seq,type,kind,at,atMs,contestId,kots,tx\r\n'

/** CSV as in `/events`. No value needs quotes, because the grammar of events excludes commas, quotes and line ends. */
function openCsv(): EventsText {
  let header = CSV_HEADER
  return (events) => {
    const rows = events.map(
      ({ seq, type, kind, at, atMs, contestId, kots, tx }) =>
        `${seq},${type},${kind},${at},${atMs},${contestId ?? ''},${kots ?? ''},${escapeFormula(tx ?? '')}\r\n`,
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
/** Width of the columns before the transaction, with the gaps of two between columns. */
const FIXED_CHARS = SEQ_CHARS + 8 + KIND_CHARS + CONTEST_CHARS + AMOUNT_CHARS + 5 * 2
/** Least characters at each end of a shortened transaction. Fewer identify nothing. */
const TX_END_CHARS_MIN = 3
const TX_END_CHARS_MAX = 8

/** Table with a row for each event, under a heading for each day; times are UTC. */
function openTable({ columns, drawn }: Canvas): EventsText {
  const dim = (text: string): string => (drawn ? styleText('dim', text, { validateStream: false }) : text)
  let day = ''
  return (events, found) =>
    events
      .map((event) => {
        const { seq, type, kind, contestId, kots, tx } = event
        const details = found?.get(event) ?? {}
        const room = columns - FIXED_CHARS
        const at = printable(event.at)
        const date = at.slice(0, 10)
        const heading = date === day ? '' : `${dim(`${date} (UTC)`)}\n`
        day = date
        const row = [
          String(seq).padStart(SEQ_CHARS),
          dim(at.slice(11, 19)),
          printable(`${type} ${kind}`).padEnd(KIND_CHARS),
          String(contestId ?? '').padStart(CONTEST_CHARS),
          groupAmount(printable(kots ?? dollars(details))).padStart(AMOUNT_CHARS),
          tx === null ? noteOf(details).slice(0, room) : dim(shortTx(printable(tx), room)),
        ]
        return `${heading}${row.join('  ').trimEnd()}\n`
      })
      .join('')
}

/** Price of a token, or nothing. */
const dollars = ({ price }: DetailsWire): string => (price === undefined ? '' : `$${price}`)

/** Title of a contest, or the event that this one corrects or replaces. */
function noteOf({ title, corrects, restates }: DetailsWire): string {
  const notes = [
    title,
    corrects === undefined ? undefined : `corrects ${corrects}`,
    restates === undefined ? undefined : `restates ${restates}`,
  ]
  return printable(notes.filter((note) => note !== undefined).join(', '))
}

/** Amount with the digits before the point in groups of three, as on pages: `1,204.000000000`. */
export function groupAmount(amount: string): string {
  const [whole = '', decimals] = amount.split('.')
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  return decimals === undefined ? grouped : `${grouped}.${decimals}`
}

/** Start and end of a transaction that is too long; empty if there is not enough space to identify it. */
function shortTx(tx: string, room: number): string {
  if (tx.length <= room) return tx
  const ends = Math.min(TX_END_CHARS_MAX, Math.floor((room - 1) / 2))
  return ends < TX_END_CHARS_MIN ? '' : `${tx.slice(0, ends)}…${tx.slice(-ends)}`
}
