import type { FormerLog, ListedKey } from '../../log/store/reader.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { jsonString, objectsOf, readObject } from '../../verify/reading/json-values.ts'
import { type KeyList, readKeyList, type Trust, trustOf } from '../../verify/trust.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import { formatVkey } from '../../tlog/note.ts'

/** Verifier keys that the mirror trusts, and their source. */
export type Pins = Readonly<{ vkeys: readonly string[]; firstUse: boolean }>

/** Keys of the followed log: the listed ones, and the proved ones. */
export type OriginKeys = Readonly<{
  logId: string
  origin: string
  former: readonly FormerLog[]
  /** All listed keys, in the form of the store. */
  listed: readonly ListedKey[]
  /** Keys that follow from the pinned ones. */
  trust: Trust
  /** The list as served. */
  body: Uint8Array
}>

const PLACE = 'log/keys'
/** Most characters of the first keys, which `/status` shows. A log has one or two, of 100 characters each. */
const FIRST_KEYS_LENGTH_MAX: number = 16 * 1024
const LOG_ID = /^[0-9a-f]{32}$/

/** Pins for a log whose keys the operator does not know: its first keys. */
export function firstPins(body: Uint8Array): Pins {
  const { keys, origin } = readKeyList(body, NODE_PRIMITIVES)
  const first = keys.filter(({ key, statement }) => key.name === origin && statement === null)
  const vkeys = first.map(({ key }) => formatVkey(key))
  if (vkeys.join('').length > FIRST_KEYS_LENGTH_MAX)
    throw new WrongError(PLACE, 'has too many first keys, or a name that is too long')
  return { vkeys, firstUse: true }
}

/**
 * Proves the served list of keys by the pinned ones. Throws a `WrongError` when the list is malformed, lacks a pinned
 * key, or when no pinned key leads to a current one.
 */
export async function proveKeys(body: Uint8Array, { vkeys }: Pins): Promise<OriginKeys> {
  const list = readKeyList(body, NODE_PRIMITIVES)
  const { logId, former } = readIds(body, list)
  const trust = await trustOf(list, { basis: 'kept', vkeys }, NODE_PRIMITIVES)
  const unknown = list.keys.find(
    (listed) => listed.key.name === list.origin && listed.toSize === null && !trust.keys.includes(listed),
  )
  if (unknown !== undefined) {
    throw new WrongError(
      PLACE,
      'a key signs the log that no trusted key has named: ask the operator, then give its verifier key',
    )
  }
  const listed = list.keys.map(({ key, fromSize, toSize, statement }) => ({
    vkey: formatVkey(key),
    fromSize,
    toSize,
    statement,
  }))
  return { logId, origin: list.origin, former, listed, trust, body }
}

function readIds(body: Uint8Array, list: KeyList): Readonly<{ logId: string; former: readonly FormerLog[] }> {
  const json = readObject(PLACE, body)
  const logId = jsonString(json['logId']) ?? ''
  const logs = objectsOf(json['formerLogs'] ?? []) ?? []
  const former = list.formerLogs.map(({ origin, size }, index) => {
    const id = jsonString(logs[index]?.['id']) ?? ''
    if (!LOG_ID.test(id)) throw new WrongError(PLACE, 'a former log has no id')
    return { id, origin, size }
  })
  if (!LOG_ID.test(logId)) throw new WrongError(PLACE, 'lacks the id of the log')
  return { logId, former }
}
