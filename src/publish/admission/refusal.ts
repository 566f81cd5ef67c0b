import { findsAddress, type TextPlace } from '../../protocol/address-guard.ts'

/** Reason why a value is refused. It never repeats the value. */
export type ValueFault = Readonly<{ reason: string; code: 'invalid-draft' | 'address-forbidden' }>

/** The refusal of a draft. `field` is a path such as `details.opensAt`, or `draft` for the whole draft. */
export type DraftRefusal = Readonly<{ ok: false; field: string }> & ValueFault

const ADDRESS: ValueFault = { reason: 'holds what looks like a wallet address', code: 'address-forbidden' }

/** Characters that are searched for an address. Every field refuses longer text anyway, and a refusal must be cheap. */
const SEARCHED_CHARS_MAX = 4_096

/** Makes the fault of a value. A value that looks like a wallet address gets that reason instead of the given one. */
export function fault(value: unknown, reason: string): ValueFault {
  if (typeof value === 'string' && value.length <= SEARCHED_CHARS_MAX && findsAddress(value, 'prose')) {
    return ADDRESS
  }
  return { reason, code: 'invalid-draft' }
}

/** Returns the text unless it contains a wallet address. Applied to every published string without a stricter form. */
export function refuseAddress(text: string, place: TextPlace): string | ValueFault {
  return findsAddress(text, place) ? ADDRESS : text
}

export function refusal(field: string, { reason, code }: ValueFault): DraftRefusal {
  return { ok: false, field, reason, code }
}

/** Whether a result is a fault. Values of fields are primitives. */
export function isFault(outcome: unknown): outcome is ValueFault {
  return typeof outcome === 'object' && outcome !== null
}

/** Whether a JSON value is an object: no array, null or primitive. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
