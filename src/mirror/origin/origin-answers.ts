import type { LogIdentity } from '../../log/store/reader.ts'
import type { Finality, UpstreamMirror } from '../../protocol/endpoints/description-endpoints.ts'
import { moment, MS_MAX, msOf } from '../../protocol/moment.ts'
import { isChain } from '../../protocol/tx.ts'
import { parseNote } from '../../tlog/note.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import {
  isJsonObject,
  jsonInteger,
  type JsonObject,
  jsonString,
  objectsOf,
  readObject,
} from '../../verify/reading/json-values.ts'
import { firstPins, type OriginKeys, type Pins, proveKeys } from '../proof/origin-keys.ts'
import { isByListedKeys, type ProvenTree, provenTree } from '../proof/proven-tree.ts'
import { type BodyLimits, noDaybook, type Origin } from './open-origin.ts'
import { MIRROR_STATES } from '../../protocol/enumerations.ts'

/** The origin's word about itself. Nothing of it is signed. */
export type OriginStatus = Readonly<{
  log: string
  chain: LogIdentity['chain']
  simulated: boolean
  head: number
  held: Finality | null
  /** The origin, if it is a mirror, and the mirrors that it follows. */
  upstream: readonly UpstreamMirror[]
}>

const STATUS_BYTES_MAX: number = 64 * 1024
const KEYS_BYTES_MAX: number = 1024 * 1024
const NOTE_BYTES_MAX: number = 256 * 1024

/** Reads `/status`. Throws an `unexpected-answer` when it is none of Daybook. */
export async function readOriginStatus(
  origin: Origin,
  signal: AbortSignal,
  attempts: Pick<BodyLimits, 'attemptsMax'> = {},
): Promise<OriginStatus> {
  const status = await origin.json('status', { bytesMax: STATUS_BYTES_MAX, ...attempts }, signal)
  const log = jsonString(status['log'])
  const chain = jsonString(status['chain']) ?? ''
  const head = status['head']
  const seq = isJsonObject(head) ? jsonInteger(head['seq']) : undefined
  if (log === undefined || !isChain(chain) || seq === undefined) throw noDaybook()
  const finality = status['finality']
  const held = isJsonObject(finality) ? finalityOf(finality) : null
  const mirror = status['mirror']
  const upstream = isJsonObject(mirror) ? upstreamOf(mirror) : []
  // A mirror names the newest seq that it knows of, which it may not have yet.
  const known = isJsonObject(mirror) ? (jsonInteger(mirror['originSeq']) ?? 0) : 0
  return { log, chain, simulated: status['simulated'] === true, head: Math.max(seq, known), held, upstream }
}

/** Counts of held drafts; null when they are malformed. */
function finalityOf(json: JsonObject): Finality | null {
  const count = (name: string): number => jsonInteger(json[name]) ?? -1
  const [held, refused, failed] = [count('held'), count('refused'), count('failed')]
  const [dropped, vouched] = [count('dropped'), count('vouched')]
  if ([held, refused, failed, dropped, vouched].includes(-1)) return null
  const oldestMs = jsonInteger(json['oldestAtMs'])
  // Only numbers are passed on: a text could be anything, and as long as the answer.
  const oldest = oldestMs === undefined || oldestMs > MS_MAX ? null : moment(msOf(oldestMs))
  const [oldestAt, oldestAtMs] = [oldest?.at ?? null, oldest?.atMs ?? null]
  return { asked: json['asked'] === true, held, oldestAt, oldestAtMs, refused, failed, dropped, vouched }
}

/** Reads `/log/keys`. */
export async function readKeysBody(
  origin: Origin,
  signal: AbortSignal,
  attempts: Pick<BodyLimits, 'attemptsMax'> = {},
): Promise<Uint8Array> {
  const body = await origin.read('log/keys', { bytesMax: KEYS_BYTES_MAX, ...attempts }, signal)
  if (body === undefined || !hasKeys(body)) throw noDaybook()
  return body
}

/** Whether a body may be a list of keys, right or wrong. A gateway may have answered in place of the origin. */
function hasKeys(body: Uint8Array): boolean {
  try {
    return readObject('', body)['keys'] !== undefined
  } catch {
    return false
  }
}

/** Reads the keys, and proves them by the pins. Without pins the listed first keys become the pins. */
export async function readOriginKeys(
  origin: Origin,
  pins: Pins | null,
  signal: AbortSignal,
  attempts: Pick<BodyLimits, 'attemptsMax'> = {},
): Promise<Readonly<{ keys: OriginKeys; pins: Pins }>> {
  const body = await readKeysBody(origin, signal, attempts)
  const pinned = pins ?? firstPins(body)
  return { keys: await proveKeys(body, pinned), pins: pinned }
}

/**
 * Reads the newest checkpoint, and the keys again when it is not signed by exactly the listed ones: they may have changed.
 */
export async function readOriginTree(
  origin: Origin,
  known: OriginKeys,
  pins: Pins,
  signal: AbortSignal,
  attempts: Pick<BodyLimits, 'attemptsMax'> = {},
): Promise<Readonly<{ tree: ProvenTree; keys: OriginKeys }>> {
  const place = 'log/checkpoint'
  const body = await origin.read(place, { bytesMax: NOTE_BYTES_MAX, ...attempts }, signal)
  if (body === undefined || !parseNote(body).ok) throw noDaybook()
  const tree = await provenTree(place, body, known).catch((error: unknown) => {
    if (error instanceof WrongError) return null
    throw error
  })
  if (tree !== null && isByListedKeys(body, known)) return { tree, keys: known }
  const { keys } = await readOriginKeys(origin, pins, signal, attempts)
  return { tree: await provenTree(place, body, keys), keys }
}

/** Most mirrors that are listed. Mirrors that follow each other in a circle have no end. */
const UPSTREAM_MAX = 8
const ADDRESS_LENGTH_MAX = 255

/** The origin as a mirror, and the mirrors that it names, from its `/status`. A malformed one ends the list. */
function upstreamOf(mirror: JsonObject): readonly UpstreamMirror[] {
  const listed: UpstreamMirror[] = []
  for (const json of [mirror, ...(objectsOf(mirror['upstream']) ?? [])].slice(0, UPSTREAM_MAX)) {
    const one = upstreamMirrorOf(json)
    if (one === null) break
    listed.push(one)
  }
  return listed
}

function upstreamMirrorOf(json: JsonObject): UpstreamMirror | null {
  const address = URL.parse(jsonString(json['of']) ?? '')
  const state = MIRROR_STATES.find((one) => one === json['state'])
  const behindMs = jsonInteger(json['behindMs'])
  const provedAtMs = jsonInteger(json['provedAtMs']) ?? null
  if (state === undefined || behindMs === undefined || behindMs > MS_MAX) return null
  if (provedAtMs !== null && provedAtMs > MS_MAX) return null
  // Pages show the address.
  if (address === null || !/^https?:$/.test(address.protocol) || address.origin.length > ADDRESS_LENGTH_MAX)
    return null
  const provedAt = provedAtMs === null ? null : moment(msOf(provedAtMs)).at
  return { of: address.origin, state, behindMs, provedAt, provedAtMs }
}
