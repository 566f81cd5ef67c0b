import { hash } from 'node:crypto'
import { type Amount, AMOUNT_DIGITS_MAX, parseDraftAmount } from '../../protocol/amount.ts'
import { formatDetails } from '../../protocol/details.ts'
import { type Draft, REF_CHARS_MAX } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import {
  EVENT_TYPES,
  isEventType,
  RESERVED_KINDS,
  type Rule,
  ruleOf,
  RULES,
  WORD,
} from '../../protocol/rules.ts'
import { type ContestId, contestIdOf } from '../../protocol/seq.ts'
import { type Chain, isTx, TX_FORM } from '../../protocol/tx.ts'
import { missing, readAt, readBounded, readDetails, readInteger } from './details-grammar.ts'
import {
  type DraftRefusal,
  fault,
  isFault,
  isObject,
  refusal,
  refuseAddress,
  type ValueFault,
} from './refusal.ts'

/** Source of a draft. A draft in a publish request has no moment of its own; one in an import file has. */
export type DraftSource = Readonly<{ chain: Chain; mode: 'publish' | 'import' }>

type DraftParsed = Readonly<{ ok: true; draft: Draft }> | DraftRefusal

const KEYS = ['ref', 'at', 'type', 'kind', 'contestId', 'kots', 'tx', 'details'] as const
type Key = (typeof KEYS)[number]
const KEY_OF: ReadonlyMap<string, Key> = new Map(KEYS.map((key) => [key, key]))

/** The values of a draft by key; undefined for an absent key. */
type DraftFields = Record<Key, unknown>

/**
 * Reads a draft from a parsed JSON value by the rule of its type and kind. Any other value gives a refusal that names
 * the field and does not repeat the input.
 */
export function parseDraft(value: unknown, source: DraftSource): DraftParsed {
  if (!isObject(value)) return refusal('draft', fault(value, 'must be an object'))
  const fields: DraftFields = {
    ref: undefined,
    at: undefined,
    type: undefined,
    kind: undefined,
    contestId: undefined,
    kots: undefined,
    tx: undefined,
    details: undefined,
  }
  // Copies only own keys, because properties of a prototype were not sent.
  for (const sent of Object.keys(value)) {
    const key = KEY_OF.get(sent)
    if (key === undefined)
      return refusal('draft', fault(sent, `has an unknown key: known are ${KEYS.join(', ')}`))
    fields[key] = value[sent]
  }
  return readFields(fields, source)
}

function readFields(fields: DraftFields, source: DraftSource): DraftParsed {
  const { type, kind } = fields
  if (typeof type !== 'string' || !isEventType(type))
    return refusal('type', fault(type, `must be one of ${EVENT_TYPES.join(', ')}`))
  if (typeof kind !== 'string' || !WORD.test(kind))
    return refusal('kind', fault(kind, 'must be 1 to 32 of a-z, 0-9 and _, beginning with a letter'))
  const rule = ruleOf(type, kind)
  if (rule === undefined) return refusal('kind', fault(kind, kindsOf(type)))
  const word = refuseAddress(kind, 'prose')
  if (isFault(word)) return refusal('kind', word)

  const ref = readRef(fields.ref, source)
  if (isFault(ref)) return refusal('ref', ref)
  const atMs = readMomentOf(fields.at, source)
  if (isFault(atMs)) return refusal('at', atMs)
  const contestId = readContestId(fields.contestId, rule)
  if (isFault(contestId)) return refusal('contestId', contestId)
  const kots = readKots(fields.kots, rule)
  if (isFault(kots)) return refusal('kots', kots)
  const tx = readTx(fields.tx, rule, source.chain)
  if (isFault(tx)) return refusal('tx', tx)

  const absent = fields.details === undefined || fields.details === null
  const details = absent ? (missing(null, rule) ?? null) : readDetails(fields.details, rule)
  if (details !== null && 'ok' in details) return details
  return { ok: true, draft: { ref, atMs, type, kind, contestId, kots, tx, details } }
}

/** Reason why a kind is refused, with the kinds of the type. */
function kindsOf(type: string): string {
  const kinds = RULES.filter((rule) => rule.type === type).map((rule) => rule.kind)
  const fixed = kinds.filter((kind) => kind !== '*')
  if (!kinds.includes('*')) return `must be one of ${fixed.join(', ')}`
  const reserved = [...RESERVED_KINDS].filter((kind) => !fixed.includes(kind))
  return `is reserved: choose a kind of this type other than ${reserved.join(', ')}`
}

function readRef(value: unknown, { mode }: DraftSource): string | null | ValueFault {
  if (value === undefined || value === null) return mode === 'import' ? null : fault(value, 'is required')
  return readBounded(value, REF_CHARS_MAX)
}

function readMomentOf(value: unknown, { mode }: DraftSource): Ms | null | ValueFault {
  if (mode === 'import') return value === undefined ? fault(value, 'is required in an import') : readAt(value)
  return value === undefined
    ? null
    : fault(value, 'is only for imports: a published event gets the moment of its publication')
}

function readContestId(value: unknown, rule: Rule): ContestId | null | ValueFault {
  if (value === undefined || value === null)
    return rule.contestId === 'must' ? fault(value, 'is required') : null
  if (rule.contestId === 'none') return fault(value, 'does not belong to this type and kind')
  const id = readInteger(value, 1, Number.MAX_SAFE_INTEGER)
  return typeof id === 'number' ? contestIdOf(id) : id
}

function readKots(value: unknown, rule: Rule): Amount | null | ValueFault {
  if (value === undefined || value === null) return rule.kots === 'must' ? fault(value, 'is required') : null
  if (rule.kots === 'none') return fault(value, 'does not belong to this type and kind')
  if (typeof value === 'number') return fault(value, 'must be a string: a JSON number may lose digits')
  if (typeof value !== 'string') return fault(value, 'must be a string such as "12.5"')
  const amount = parseDraftAmount(value)
  if (amount === undefined) return fault(value, amountFault(value))
  if (rule.kots === 'must' && amount < 0n) return fault(value, 'must not be negative: only a correction is')
  if (rule.kots === 'as-corrected' && amount > 0n)
    return fault(value, 'must be the corrected amount with the opposite sign')
  return amount
}

function amountFault(text: string): string {
  if (/^-?\d+\.\d{10,}$/.test(text)) return 'has more than nine decimals'
  if (/^-?[1-9]\d*(?:\.\d+)?$/.test(text) && text.search(/\.|$/) > AMOUNT_DIGITS_MAX)
    return `has more than ${AMOUNT_DIGITS_MAX} digits before the point`
  if (/^-0(?:\.0+)?$/.test(text)) return 'must not be minus zero'
  return 'must be plain decimal digits such as "12.5" (a correction: "-12.5"), without plus sign, blanks or leading zeros'
}

function readTx(value: unknown, rule: Rule, chain: Chain): string | null | ValueFault {
  if (value === undefined || value === null) return rule.tx === 'must' ? fault(value, 'is required') : null
  if (rule.tx === 'none') return fault(value, 'does not belong to this type and kind')
  if (typeof value !== 'string' || !isTx(chain, value)) return fault(value, `must be ${TX_FORM[chain]}`)
  // Base58 of exactly 64 bytes leaves no room for an address.
  return chain === 'solana' ? value : refuseAddress(value, 'tx')
}

/** Bytes of a draft's digest, enough to rule out collisions. */
export const DRAFT_DIGEST_BYTES = 16

/**
 * Digest of a draft's content, which tells whether a repeated ref has the same content. Spelling does not matter (`1`
 * and `1.000000000`, a moment in ISO or in milliseconds). Excludes the ref, and the moment of an imported draft.
 */
export function draftDigest({ type, kind, contestId, kots, tx, details }: Draft): Uint8Array {
  // Only the last field can contain a line feed, so different drafts have different texts.
  const detailsText = details === null ? '' : formatDetails(details)
  const text = `${type}\n${kind}\n${contestId ?? ''}\n${kots ?? ''}\n${tx ?? ''}\n${detailsText}`
  return hash('sha256', text, 'buffer').subarray(0, DRAFT_DIGEST_BYTES)
}
