import { setImmediate as turn } from 'node:timers/promises'
import type { Draft } from '../../protocol/draft.ts'
import { DRAFTS_MAX } from '../../protocol/draft.ts'
import type { Chain } from '../../protocol/tx.ts'
import { parseBody, parseLine } from './draft-json.ts'
import { parseDraft } from './grammar.ts'
import type { FailedOutcome } from './outcome.ts'
import { doorRefusal } from './outcome.ts'

/** Drafts that are parsed without a pause: the search for an address may take milliseconds for each. */
const DRAFTS_A_TURN = 50

type ParsedBody = Readonly<{ ok: true; drafts: readonly Draft[] }> | FailedOutcome

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses the body of a publish request: a JSON array, or JSON lines. Other work of the thread gets its turn between
 * `DRAFTS_A_TURN` drafts.
 */
export async function parseDrafts(bytes: Buffer, lines: boolean, chain: Chain): Promise<ParsedBody> {
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    return doorRefusal('invalid-draft', 'the request is not UTF-8')
  }
  const values = lines ? parseLines(text) : parseArray(text)
  if ('ok' in values) return values
  if (values.length > DRAFTS_MAX)
    return doorRefusal('too-large', `the request has more than ${DRAFTS_MAX} drafts: split it`)
  const drafts: Draft[] = []
  for (const [index, value] of values.entries()) {
    if (index > 0 && index % DRAFTS_A_TURN === 0) await turn()
    const parsed = parseDraft(value, { chain, mode: 'publish' })
    if (!parsed.ok) return { ok: false, code: parsed.code, index, field: parsed.field, reason: parsed.reason }
    drafts.push(parsed.draft)
  }
  return { ok: true, drafts }
}

function parseArray(text: string): readonly unknown[] | FailedOutcome {
  const body = parseBody(text)
  if (body.ok) return body.value
  return { ...doorRefusal('invalid-draft', body.reason), index: body.index ?? null }
}

// The white space of JSON. A line with only a byte order mark is an invalid line.
const BLANK = /^[ \t\r]*$/

function parseLines(text: string): readonly unknown[] | FailedOutcome {
  const values: unknown[] = []
  for (const line of text.split('\n')) {
    if (BLANK.test(line)) continue
    // Lines beyond the limit are not parsed, as their number alone refuses the request.
    if (values.length > DRAFTS_MAX) break
    const parsed = parseLine(line)
    if (!parsed.ok)
      return { ...doorRefusal('invalid-draft', parsed.reason), index: values.length, field: 'draft' }
    values.push(parsed.value)
  }
  return values
}
