import { isUtf8 } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import { type Draft, DRAFT_LINE_BYTES_MAX, DRAFTS_MAX, REF_CHARS_MAX } from '../../protocol/draft.ts'
import type { Chain } from '../../protocol/tx.ts'
import { readBounded } from './details-grammar.ts'
import { parseLine } from './draft-json.ts'
import { parseDraft } from './grammar.ts'
import {
  requestRefusal,
  type DraftFault,
  type FailedOutcome,
  FAULTS_MAX,
  faultsRefusal,
  shownRef,
} from './outcome.ts'
import { isObject } from './refusal.ts'

/** Drafts parsed without a pause. The search for an address may take milliseconds for each. */
const DRAFTS_A_TURN = 50

/** Drafts of a body. In a body of lines each has its line number, from 1. */
type ParsedBody =
  | Readonly<{ ok: true; drafts: readonly Draft[]; lines: readonly (number | undefined)[] }>
  | FailedOutcome

/**
 * Parses the body of a publish request: a JSON array, or JSON lines. Yields to other work of the thread every
 * `DRAFTS_A_TURN` drafts. After `FAULTS_MAX` bad drafts further ones are only counted. After `DRAFTS_MAX` drafts the
 * rest of the body is ignored.
 */
export async function parseBody(body: Buffer, isLines: boolean, chain: Chain): Promise<ParsedBody> {
  const cut = isLines ? cutLines(body) : cutArray(body)
  const drafts: Draft[] = []
  const lines: (number | undefined)[] = []
  const faults: DraftFault[] = []
  let found = cut.next()
  for (let index = 0; found.done !== true; index += 1, found = cut.next()) {
    if (index === DRAFTS_MAX)
      return requestRefusal('too-large', `the request has more than ${DRAFTS_MAX} drafts: split it`)
    if (index > 0 && index % DRAFTS_A_TURN === 0) await turn()
    if (faults.length === FAULTS_MAX) continue
    const { bytes, line } = found.value
    const parsed = parseOne(bytes, chain)
    if (parsed.ok) {
      drafts.push(parsed.draft)
      lines.push(line)
    } else faults.push({ ...parsed.fault, index, line })
  }
  const refusal = faultsRefusal(faults)
  if (refusal !== undefined) return refusal
  if (found.value !== null) return requestRefusal('invalid-draft', `the request ${found.value}`)
  return { ok: true, drafts, lines }
}

type ParsedOne =
  | Readonly<{ ok: true; draft: Draft }>
  | Readonly<{ ok: false; fault: Omit<DraftFault, 'index' | 'line'> }>

function parseOne(bytes: Buffer, chain: Chain): ParsedOne {
  const json = jsonOf(bytes)
  if (!json.ok)
    return {
      ok: false,
      fault: { code: 'invalid-draft', ref: null, field: 'draft', reason: json.reason },
    }
  const parsed = parseDraft(json.value, { chain, mode: 'publish' })
  if (parsed.ok) return parsed
  const { code, field, reason } = parsed
  return { ok: false, fault: { code, ref: refOf(json.value), field, reason } }
}

function jsonOf(bytes: Buffer): ReturnType<typeof parseLine> {
  if (bytes.length > DRAFT_LINE_BYTES_MAX)
    return { ok: false, reason: `is longer than ${DRAFT_LINE_BYTES_MAX} bytes` }
  return isUtf8(bytes) ? parseLine(bytes.toString()) : { ok: false, reason: 'is not UTF-8' }
}

function refOf(value: unknown): string | null {
  const ref = isObject(value) ? readBounded(value['ref'], REF_CHARS_MAX) : null
  return typeof ref === 'string' ? shownRef(ref) : null
}

/** Bytes of one draft in a body, with its line number, from 1, in a body of lines. */
type DraftBytes = Readonly<{ bytes: Buffer; line?: number }>

/** Splits a body into its drafts. Returns the fault of the body as a whole; null for none. */
type Cut = Generator<DraftBytes, string | null, undefined>

const LINE_FEED = 10
/** White space of JSON. A line with only a byte order mark is no blank line. */
const isBlank = (byte: number | undefined): boolean =>
  byte === 32 || byte === 9 || byte === 13 || byte === LINE_FEED

/** Cuts JSON lines. Blank lines are no drafts. */
export function* cutLines(body: Buffer): Cut {
  let line = 1
  let start = 0
  for (let at = 0; at < body.length; at += 1) {
    if (!isBlank(body[at])) {
      const lineFeed = body.indexOf(LINE_FEED, at)
      at = lineFeed < 0 ? body.length : lineFeed
      yield { bytes: body.subarray(start, at), line }
    }
    if (body[at] === LINE_FEED) {
      line += 1
      start = at + 1
    }
  }
  return null
}

const QUOTE = 34
const BACKSLASH = 92

/** Splits a JSON array. It recognises strings, brackets and commas; each draft is parsed later. */
export function* cutArray(body: Buffer): Cut {
  let start = 0
  while (isBlank(body[start])) start += 1
  if (body[start] !== 0x5b) return NO_ARRAY
  start += 1
  let drafts = 0
  /** Brackets that are open in the draft. */
  let depth = 0
  for (let at = start; at < body.length; at += 1) {
    switch (body[at] ?? 0) {
      case QUOTE:
        // To the end of the string.
        for (at += 1; at < body.length && body[at] !== QUOTE; at += 1) if (body[at] === BACKSLASH) at += 1
        break
      case 0x7b: // {
      case 0x5b: // [
        depth += 1
        break
      case 0x7d: // }
        // An extra closing bracket is a fault of this draft alone.
        depth = Math.max(0, depth - 1)
        break
      case 0x5d: // ]
        if (depth === 0) {
          const bytes = trimmed(body.subarray(start, at))
          if (drafts > 0 || bytes.length > 0) yield { bytes }
          return body.subarray(at + 1).every(isBlank) ? null : NO_ARRAY
        }
        depth -= 1
        break
      case 0x2c: // ,
        if (depth > 0) break
        drafts += 1
        yield { bytes: trimmed(body.subarray(start, at)) }
        start = at + 1
        break
      default:
    }
  }
  const bytes = trimmed(body.subarray(start))
  if (bytes.length > 0) yield { bytes }
  return 'is not JSON: its array has no end'
}

const NO_ARRAY = 'must be an array of drafts'

/** The bytes without the white space around them. */
function trimmed(bytes: Buffer): Buffer {
  let [start, end] = [0, bytes.length]
  while (start < end && isBlank(bytes[start])) start += 1
  while (end > start && isBlank(bytes[end - 1])) end -= 1
  return bytes.subarray(start, end)
}
