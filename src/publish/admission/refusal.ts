import { hash } from 'node:crypto'
import { openAddressGuard } from '../../protocol/address-guard.ts'

/** Why one value is refused. The reason never repeats the value. */
export type ValueFault = Readonly<{ reason: string; code: 'invalid-draft' | 'address-forbidden' }>

/** Why a draft is refused, and where: `field` is a path such as `details.opensAt`, or `draft` for the whole. */
export type DraftRefusal = Readonly<{ ok: false; field: string }> & ValueFault

const GUARD = openAddressGuard((bytes) => hash('sha256', bytes, 'buffer'))

const ADDRESS: ValueFault = { reason: 'holds what looks like a wallet address', code: 'address-forbidden' }

/** Longer text is refused for its length alone, so that a refusal stays cheap. */
const SEARCHED_CHARS_MAX = 4_096

/** A refused value; what looks like a wallet address is named as that, whatever else is wrong with it. */
export function fault(value: unknown, reason: string): ValueFault {
  if (typeof value === 'string' && value.length <= SEARCHED_CHARS_MAX && GUARD.finds(value)) return ADDRESS
  return { reason, code: 'invalid-draft' }
}

/** The text, unless it holds a wallet address: for every string that is published and has no stricter grammar. */
export function guarded(text: string): string | ValueFault {
  return GUARD.finds(text) ? ADDRESS : text
}

/** A transaction that has no grammar to speak of, unless `0x` or a checksum proves that it is an address. */
export function guardedTx(text: string): string | ValueFault {
  return GUARD.proves(text) ? ADDRESS : text
}

export function refusal(field: string, { reason, code }: ValueFault): DraftRefusal {
  return { ok: false, field, reason, code }
}

/** Tells a fault from a value that was read: values of fields are primitives. */
export function isFault(outcome: unknown): outcome is ValueFault {
  return typeof outcome === 'object' && outcome !== null
}

/** A JSON object, as opposed to an array, null or a primitive. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
