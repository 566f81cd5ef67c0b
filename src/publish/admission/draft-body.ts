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
  toldRef,
} from './outcome.ts'
import { isObject } from './refusal.ts'

/** Drafts that are parsed without a pause: the search for an address may take milliseconds for each. */
const DRAFTS_A_TURN = 50

/** Drafts of a body, with the line of each, from 1, when the body has lines. */
type ParsedBody =
  | Readonly<{ ok: true; drafts: readonly Draft[]; lines: readonly (number | undefined)[] }>
  | FailedOutcome

/** Parses the body of a publish request while it is read. */
type BodyParser = Readonly<{
  /** Parses the drafts that are whole with this piece. */
  take(piece: Buffer): Promise<void>
  /** Settles with the drafts of the body, or with its refusal. */
  end(): Promise<ParsedBody>
}>

/**
 * Opens the parser of a body: a JSON array, or JSON lines. Other work of the thread gets its turn between `DRAFTS_A_TURN`
 * drafts. After `FAULTS_MAX` bad drafts the further ones are only counted, and after `DRAFTS_MAX` drafts the rest of the
 * body is not looked at.
 */
export function openBodyParser(isLines: boolean, chain: Chain): BodyParser {
  const cutter = isLines ? openLineCutter() : openArrayCutter()
  const drafts: Draft[] = []
  const lines: (number | undefined)[] = []
  const faults: DraftFault[] = []
  let count = 0

  function add({ bytes, line }: DraftBytes): void {
    if (faults.length === FAULTS_MAX) return
    const parsed = parseOne(bytes, chain)
    if (!parsed.ok) return void faults.push({ ...parsed.fault, index: count - 1, line })
    drafts.push(parsed.draft)
    lines.push(line)
  }

  async function addAll(found: Iterable<DraftBytes>): Promise<void> {
    if (count > DRAFTS_MAX) return
    for (const draft of found) {
      count += 1
      if (count > DRAFTS_MAX) return
      add(draft)
      if (count % DRAFTS_A_TURN === 0) await turn()
    }
  }

  return {
    take: (piece) => addAll(cutter.take(piece)),
    async end() {
      await addAll(cutter.end())
      if (count > DRAFTS_MAX)
        return requestRefusal('too-large', `the request has more than ${DRAFTS_MAX} drafts: split it`)
      const refusal = faultsRefusal(faults)
      if (refusal !== undefined) return refusal
      const fault = cutter.fault()
      return fault === null
        ? { ok: true, drafts, lines }
        : requestRefusal('invalid-draft', `the request ${fault}`)
    },
  }
}

type ParsedOne =
  | Readonly<{ ok: true; draft: Draft }>
  | Readonly<{ ok: false; fault: Omit<DraftFault, 'index' | 'line'> }>

function parseOne(bytes: Buffer | null, chain: Chain): ParsedOne {
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

function jsonOf(bytes: Buffer | null): ReturnType<typeof parseLine> {
  if (bytes === null) return { ok: false, reason: `is longer than ${DRAFT_LINE_BYTES_MAX} bytes` }
  return isUtf8(bytes) ? parseLine(bytes.toString()) : { ok: false, reason: 'is not UTF-8' }
}

function refOf(value: unknown): string | null {
  const ref = isObject(value) ? readBounded(value['ref'], REF_CHARS_MAX) : null
  return typeof ref === 'string' ? toldRef(ref) : null
}

/** Bytes of one draft in a body. */
type DraftBytes = Readonly<{
  /** Null when they are more than a draft may have. */
  bytes: Buffer | null
  /** Number of the line, from 1, in a body of lines. */
  line?: number
}>

/** Cuts a body, which comes in pieces, into its drafts. Holds no more of it than the draft that is not whole yet. */
export type DraftCutter = Readonly<{
  take(piece: Buffer): Generator<DraftBytes, void, undefined>
  /** The last draft, when nothing ends it. */
  end(): Generator<DraftBytes, void, undefined>
  /** Fault of the whole body, whatever its drafts are; null for none. To be asked after the end. */
  fault(): string | null
}>

/** Bytes that come in pieces. `whole` forgets them; what is longer than a draft is not kept. */
function openBytes() {
  let pieces: Buffer[] = []
  let size = 0
  return {
    size: () => size,
    add(piece: Buffer): void {
      size += piece.length
      if (size > DRAFT_LINE_BYTES_MAX) pieces = []
      else if (piece.length > 0) pieces.push(piece)
    },
    whole(): Buffer | null {
      const bytes = size > DRAFT_LINE_BYTES_MAX ? null : Buffer.concat(pieces)
      pieces = []
      size = 0
      return bytes
    },
  }
}

const LINE_FEED = 10
/** White space of JSON. A line with only a byte order mark is no blank line. */
const isBlank = (byte: number): boolean => byte === 32 || byte === 9 || byte === 13 || byte === LINE_FEED

function isBlankPart(piece: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (!isBlank(piece[at] ?? 0)) return false
  return true
}

/** Opens the cutter of JSON lines. Blank lines are no drafts. */
export function openLineCutter(): DraftCutter {
  const kept = openBytes()
  let line = 1
  function* draft(): Generator<DraftBytes, void, undefined> {
    const bytes = kept.whole()
    if (bytes === null || !bytes.every(isBlank)) yield { bytes, line }
    line += 1
  }
  return {
    *take(piece) {
      let from = 0
      for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, from)) {
        // A body of nothing but blank lines must not take seconds.
        if (kept.size() === 0 && isBlankPart(piece, from, end)) line += 1
        else {
          kept.add(piece.subarray(from, end))
          yield* draft()
        }
        from = end + 1
      }
      kept.add(piece.subarray(from))
    },
    end: draft,
    fault: () => null,
  }
}

const QUOTE = 34
const BACKSLASH = 92
const OPENING = 0x5b // [

/** Meaning of a byte of an array: it belongs to a draft, or stands between two, or ends the array. */
type ArrayByte = 'own' | 'blank' | 'comma' | 'end'

/** Opens the reader of the bytes of an array, after its first bracket. */
function openArrayBytes(): (byte: number) => ArrayByte {
  /** Brackets that are open in the draft, and whether a string or an escape is. */
  let [depth, inString, isEscaped] = [0, false, false]

  function inQuotes(byte: number): void {
    if (isEscaped) isEscaped = false
    else if (byte === BACKSLASH) isEscaped = true
    else if (byte === QUOTE) inString = false
  }

  return (byte) => {
    if (inString) {
      inQuotes(byte)
      return 'own'
    }
    switch (byte) {
      case QUOTE:
        inString = true
        return 'own'
      case 0x7b: // {
      case OPENING:
        depth += 1
        return 'own'
      case 0x7d: // }
        // A bracket too many is a fault of this draft alone.
        depth = Math.max(0, depth - 1)
        return 'own'
      case 0x5d: // ]
        if (depth === 0) return 'end'
        depth -= 1
        return 'own'
      case 0x2c: // ,
        return depth === 0 ? 'comma' : 'own'
      default:
        return depth === 0 && isBlank(byte) ? 'blank' : 'own'
    }
  }
}

/**
 * Opens the cutter of a JSON array. It knows strings, brackets and commas, and leaves the rest to the parser of a draft.
 * White space outside of a draft is dropped.
 */
export function openArrayCutter(): DraftCutter {
  const kept = openBytes()
  const read = openArrayBytes()
  let place: 'before' | 'inside' | 'after' | 'wrong' = 'before'
  let drafts = 0

  function* draft(): Generator<DraftBytes, void, undefined> {
    drafts += 1
    yield { bytes: kept.whole() }
  }

  /** Reads a byte before or after the array. */
  function outside(byte: number): void {
    if (!isBlank(byte)) place = place === 'before' && byte === OPENING ? 'inside' : 'wrong'
  }

  return {
    *take(piece) {
      let from = 0
      for (let at = 0; at < piece.length; at++) {
        const byte = piece[at] ?? 0
        if (place !== 'inside') {
          outside(byte)
          from = at + 1
          continue
        }
        const is = read(byte)
        if (is === 'own') continue
        kept.add(piece.subarray(from, at))
        from = at + 1
        if (is === 'end') place = 'after'
        const isEmpty = is === 'end' && drafts === 0 && kept.size() === 0
        if (is !== 'blank' && !isEmpty) yield* draft()
      }
      if (place === 'inside') kept.add(piece.subarray(from))
    },
    *end() {
      if (place === 'inside' && kept.size() > 0) yield* draft()
    },
    fault() {
      if (place === 'after') return null
      return place === 'inside' ? 'is not JSON: its array has no end' : 'must be an array of drafts'
    },
  }
}
