import { z } from 'zod'
import type { LogIdentity } from '../../log/store/reader.ts'
import type { Finality, UpstreamMirror } from '../../protocol/endpoints/description-endpoints.ts'
import { moment, MS_MAX, msOf } from '../../protocol/moment.ts'
import { parseNote } from '../../tlog/note.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { readObject } from '../../verify/reading/json-values.ts'
import { firstPins, type OriginKeys, type Pins, proveKeys } from '../proof/origin-keys.ts'
import { isByListedKeys, type ProvenTree, provenTree } from '../proof/proven-tree.ts'
import { type BodyLimits, noDaybook, type Origin } from './open-origin.ts'
import { MIRROR_STATES } from '../../protocol/enumerations.ts'

const count = z.int().min(0)
const ms = count.max(MS_MAX)

function textOf(atMs: number | null): string | null {
  return atMs === null ? null : moment(msOf(atMs)).at
}

// Only numbers are passed on, because a text could be anything and very long.
const heldCounts = z
  .object({
    asked: z.boolean(),
    held: count,
    oldestAtMs: ms.nullable().catch(null),
    refused: count,
    failed: count,
    dropped: count,
    vouched: count,
  })
  .transform((counts): Finality => ({ ...counts, oldestAt: textOf(counts.oldestAtMs) }))

/** Most listed mirrors. Mirrors that follow each other in a circle would have no end. */
const UPSTREAM_MAX = 8
const ADDRESS_LENGTH_MAX = 255

const upstreamMirror = z
  .object({
    // Pages show the address.
    of: z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin),
    state: z.enum(MIRROR_STATES),
    behindMs: ms,
    provedAtMs: ms.nullable(),
  })
  .refine(({ of }) => of.length <= ADDRESS_LENGTH_MAX)
  .transform((mirror): UpstreamMirror => ({ ...mirror, provedAt: textOf(mirror.provedAtMs) }))

const statusShape = z.object({
  log: z.string(),
  chain: z.enum(['solana', 'evm', 'opaque']),
  simulated: z.boolean().catch(false),
  head: z.object({ seq: count }),
  finality: heldCounts.nullable().catch(null),
  mirror: z
    .looseObject({ originSeq: count.catch(0), upstream: z.array(z.unknown()).catch([]) })
    .nullable()
    .catch(null),
})

/** Status of the origin. Nothing of it is signed. */
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
  const body = await origin.json('status', { bytesMax: STATUS_BYTES_MAX, ...attempts }, signal)
  const read = statusShape.safeParse(body)
  if (!read.success) throw noDaybook()
  const { log, chain, simulated, head, finality, mirror } = read.data
  const upstream: UpstreamMirror[] = []
  // A malformed one ends the list.
  for (const listed of mirror === null ? [] : [mirror, ...mirror.upstream].slice(0, UPSTREAM_MAX)) {
    const one = upstreamMirror.safeParse(listed)
    if (!one.success) break
    upstream.push(one.data)
  }
  // A mirror names the newest seq that it knows of, which it may not have yet.
  const known = Math.max(head.seq, mirror?.originSeq ?? 0)
  return { log, chain, simulated, head: known, held: finality, upstream }
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

/** Whether a body may be a list of keys, right or wrong. A gateway may have answered instead of the origin. */
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
 * Reads the newest checkpoint. Reads the keys again unless exactly the listed ones have signed it, because they may
 * have changed.
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
