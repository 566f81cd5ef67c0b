import { isUtf8 } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import { type Draft, DRAFT_LINE_BYTES_MAX, DRAFTS_MAX, REF_CHARS_MAX } from '../../protocol/draft.ts'
import type { Chain } from '../../protocol/tx.ts'
import { readBounded } from './details-grammar.ts'
import { type DraftBytes, openArrayCutter, openLineCutter } from './draft-cutter.ts'
import { parseLine } from './draft-json.ts'
import { parseDraft } from './grammar.ts'
import {
  doorRefusal,
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
        return doorRefusal('too-large', `the request has more than ${DRAFTS_MAX} drafts: split it`)
      const refusal = faultsRefusal(faults)
      if (refusal !== undefined) return refusal
      const fault = cutter.fault()
      return fault === null
        ? { ok: true, drafts, lines }
        : doorRefusal('invalid-draft', `the request ${fault}`)
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
