import {
  type Details,
  DETAILS_FIELDS,
  formatDetails,
  MOMENT_FIELDS,
  parseDetails,
} from '../../protocol/details.ts'
import { type DaybookEvent, formatEvent, parseEvent } from '../../protocol/event.ts'
import { type Ms, MS_MAX } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import { WrongError } from './finding.ts'
import { isJsonObject, jsonInteger, type JsonObject } from './json-values.ts'
import { isEventType, WORD } from '../../protocol/rules.ts'

/** Keys of every event, in order. */
const EVENT_KEYS = ['seq', 'type', 'kind', 'at', 'atMs', 'contestId', 'kots', 'tx'] as const

/** Seq of the next event, and its earliest possible moment. */
export type ExpectedNext = Readonly<{ seq: Seq; notBefore: Ms }>

/** Parses the line of the next event. Throws a `WrongError` unless the line is exactly what Daybook writes. */
export function readEventLine(line: string, next: ExpectedNext): DaybookEvent {
  const place = `seq ${next.seq}`
  const wire = parseLine(line)
  if (wire === undefined) throw new WrongError(place, 'the line is not a JSON object without spaces')
  if (Object.keys(wire).join() !== EVENT_KEYS.join()) {
    throw new WrongError(place, 'the line does not have exactly the eight keys in order')
  }
  const fault = faultOf(wire, next)
  if (fault !== undefined) throw new WrongError(place, fault)
  try {
    const event = parseEvent(line)
    if (formatEvent(event) === line) return event
  } catch (cause) {
    throw new WrongError(place, 'a value is not written as Daybook writes it', { cause })
  }
  throw new WrongError(place, '`at` is not `atMs`, or a value is not written as Daybook writes it')
}

function faultOf(
  { seq, type, kind, atMs, contestId, kots, tx }: JsonObject,
  next: ExpectedNext,
): string | undefined {
  const found = jsonInteger(seq)
  if (found === undefined) return 'the seq is not a whole number'
  if (found > next.seq) return `is missing: seq ${found} is in its place`
  if (found < next.seq) return `seq ${found} is in its place`
  if (typeof type !== 'string' || !isEventType(type)) return 'the type is unknown'
  if (typeof kind !== 'string' || !WORD.test(kind)) return 'the kind is not a word'
  const ms = jsonInteger(atMs)
  if (ms === undefined || ms > MS_MAX) return '`atMs` is not a moment'
  if (ms < next.notBefore) return '`at` is earlier than that of the event before'
  if (contestId !== null && (jsonInteger(contestId) ?? 0) === 0) return 'the contest is not a number'
  if (kots !== null && typeof kots !== 'string') return 'the amount is not text'
  if (tx !== null && typeof tx !== 'string') return 'the transaction is not text'
  return undefined
}

/** Line of details with the seq of its event. */
export type DetailsLine = Readonly<{ seq: Seq; line: string; details: Details }>

/** Parses a line of a file of details. */
export function readDetailsLine(place: string, line: string): DetailsLine {
  const wire = parseLine(line)
  const seq = jsonInteger(wire?.['seq'])
  const inner = wire?.['details']
  if (
    wire === undefined ||
    seq === undefined ||
    !isJsonObject(inner) ||
    Object.keys(wire).join() !== 'seq,details'
  ) {
    throw new WrongError(place, 'a line is not a seq with its details')
  }
  const own = `the details of seq ${seq}`
  if (Object.keys(inner).length === 0) throw new WrongError(own, 'are empty')
  try {
    const details = parseDetails(JSON.stringify(inner))
    if (formatDetails(details) === JSON.stringify(knownDetails(inner)))
      return { seq: seqOf(seq), line, details }
  } catch (cause) {
    throw new WrongError(own, 'a value is not written as Daybook writes it', { cause })
  }
  throw new WrongError(own, 'a value is not written as Daybook writes it')
}

const KNOWN: ReadonlySet<string> = new Set(
  DETAILS_FIELDS.flatMap((field) => (MOMENT_FIELDS.has(field) ? [field, `${field}Ms`] : [field])),
)

/** Details without unknown fields. A newer Daybook may have more fields, which are in the leaf but in no figure. */
function knownDetails(inner: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(inner).filter(([name]) => KNOWN.has(name)))
}

/** Parses a line that is exactly the JSON of an object; undefined for any other text. */
function parseLine(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) && JSON.stringify(value) === line ? value : undefined
  } catch {
    return undefined
  }
}
