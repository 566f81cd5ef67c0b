import {
  type Checkpoint,
  openCheckpoint,
  type OpenedCheckpoint,
  parseCheckpoint,
} from '../tlog/checkpoint.ts'
import { isSame } from '../tlog/hash.ts'
import { type ChainKey, verifyKeyChain } from '../tlog/key-chain.ts'
import { formatUtf8, formatVkey, parseNote, parseVkey } from '../tlog/note.ts'
import { doubted, DOUBTS, proved, type Verdict } from '../tlog/verdict.ts'
import { WrongError } from './reading/finding.ts'
import { jsonInteger, type JsonObject, jsonString, objectsOf, readObject } from './reading/json-values.ts'
import type { Primitives } from './reading/primitives.ts'
import type { ListedMonth } from './reading/manifest.ts'
import type { Source } from './reading/source.ts'
import { askedAgain } from './reading/live-source.ts'

/** Origin of the first trusted key: given by the user, kept from an earlier run, or served by the log. */
export type TrustBasis = 'given' | 'kept' | 'served'

/** Key that the log lists. A retired key signs trees up to `toSize`. */
type KeyRange = ChainKey & Readonly<{ toSize: number | null }>

/** Content of `/log/keys`, before any check of its statements. */
export type KeyList = Readonly<{
  origin: string
  /** Keys of this log and of former logs, each with the name of its log. */
  keys: readonly KeyRange[]
  formerLogs: readonly FormerLogSize[]
}>

/** Former log that this one continues after a loss. Its first `size` events are in this one. */
type FormerLogSize = Readonly<{ origin: string; size: number }>

/** Most keys of a list. */
const KEYS_MAX = 256

const KEYS_PLACE = 'log/keys'

/** Error for a trusted key that the log does not list: the key is wrong, or the log is another one. */
export class UnlistedKeyError extends WrongError {
  constructor() {
    super(KEYS_PLACE, 'the key that you trust is not among the keys of this log')
  }
}

const malformed = (what: string): WrongError => new WrongError(KEYS_PLACE, what)

/** The user's own keys as vkeys. Given ones come first, then those kept by earlier runs. */
export type OwnKeys = Readonly<{ given: readonly string[]; keptOf(origin: string): readonly string[] }>

/** Reads the keys of the log, and checks them against the user's own. A folder may lack the list of keys. */
export async function askTrust(source: Source, own: OwnKeys, primitives: Primitives): Promise<Trust> {
  const body = await source.read('log/keys')
  const list = body === undefined ? ownKeyList(source, own, primitives) : readKeyList(body, primitives)
  const origins = [list.origin, ...list.formerLogs.map((log) => log.origin)]
  // A log that continues another after a loss usually has the same key, under another name.
  const kept = origins.map(own.keptOf).find((vkeys) => vkeys.length > 0) ?? []
  const basis: TrustBasis = own.given.length > 0 ? 'given' : kept.length > 0 ? 'kept' : 'served'
  const trusted = { basis, vkeys: basis === 'given' ? own.given : kept }
  return trustOf(list, trusted, primitives)
}

function ownKeyList(source: Source, own: OwnKeys, { sha256 }: Primitives): KeyList {
  const keys = own.given.flatMap((vkey) => parseVkey(sha256, vkey) ?? [])
  const [first] = keys
  if (source.is === 'service') throw new WrongError('log/keys', 'is missing')
  if (first === undefined) throw new WrongError('log/keys', 'is missing: give the key of the log')
  const listed = keys.map((key) => ({ key, fromSize: 0, toSize: null, statement: null }))
  return { origin: first.name, keys: listed, formerLogs: [] }
}

/** Parses the list of keys. Throws a `WrongError` when it is malformed. */
export function readKeyList(body: Uint8Array, { sha256 }: Pick<Primitives, 'sha256'>): KeyList {
  const list = readObject(KEYS_PLACE, body)
  const origin = jsonString(list['origin'])
  const keys = objectsOf(list['keys'])
  const former = objectsOf(list['formerLogs'] ?? [])
  if (origin === undefined || keys === undefined || former === undefined || keys.length > KEYS_MAX) {
    throw malformed('lacks an origin, keys or former logs')
  }
  const formerLogs = former.map(formerLog)
  const origins = new Set([origin, ...formerLogs.map((log) => log.origin)])
  const listed = keys.map((key): KeyRange => {
    const parsed = parseVkey(sha256, jsonString(key['vkey']) ?? '')
    const fromSize = jsonInteger(key['fromSize'])
    const toSize = key['toSize'] === null ? null : jsonInteger(key['toSize'])
    if (parsed === undefined || fromSize === undefined || toSize === undefined) {
      throw malformed('a key is malformed')
    }
    if (parsed.type !== 'ed25519' || !origins.has(parsed.name))
      throw malformed('a key belongs to another log')
    return { key: parsed, fromSize, toSize, statement: jsonString(key['statement']) ?? null }
  })
  if (new Set(listed.map(({ key }) => formatVkey(key))).size < listed.length)
    throw malformed('a key is listed twice')
  return { origin, keys: listed, formerLogs }
}

function formerLog(log: JsonObject): FormerLogSize {
  const origin = jsonString(log['origin'])
  const size = jsonInteger(log['size'])
  if (origin === undefined || size === undefined) throw malformed('a former log is malformed')
  return { origin, size }
}

/** Keys by which a log is verified. */
export type Trust = Readonly<{
  origin: string
  basis: TrustBasis
  /** Keys that follow from the trusted ones by signed statements. */
  keys: readonly KeyRange[]
  /** All listed keys, including retired ones, whose old checkpoints can still be compared with the tree. */
  listed: readonly KeyRange[]
  formerLogs: readonly FormerLogSize[]
}>

/**
 * Keys that follow from the trusted ones by statements in which an older key names a newer one. Without trusted keys,
 * uses the keys that the log lists, which proves little. Throws a `WrongError` when a trusted key is not listed.
 */
export async function trustOf(
  list: KeyList,
  trusted: Readonly<{ basis: TrustBasis; vkeys: readonly string[] }>,
  primitives: Primitives,
): Promise<Trust> {
  const candidates = list.keys.filter(({ key }) => key.name === list.origin)
  const own =
    trusted.basis === 'served'
      ? candidates.filter(({ statement }) => statement === null)
      : listedTrustedKeys(list, trusted.vkeys, primitives)
  const others = candidates.filter((candidate) => !own.includes(candidate))
  const ownKeys = own.map(({ key }) => key)
  const found = [...own, ...(await verifyKeyChain(ownKeys, others, primitives.verifyEd25519))]
  if (trusted.basis === 'served' && found.length < candidates.length) {
    throw malformed('a statement is invalid: no older key has named the newer one')
  }
  return {
    origin: list.origin,
    basis: trusted.basis,
    keys: found,
    listed: list.keys,
    formerLogs: list.formerLogs,
  }
}

/**
 * Listed keys that are equal to the trusted ones. A key of this log must stay listed. A key of a former log counts when
 * it is listed under this log's name too. At least one key must be found.
 */
function listedTrustedKeys(
  list: KeyList,
  vkeys: readonly string[],
  { sha256 }: Primitives,
): readonly KeyRange[] {
  const found = vkeys.flatMap((vkey) => {
    const own = parseVkey(sha256, vkey)
    const isFormer = list.formerLogs.some((log) => log.origin === own?.name)
    const same = list.keys.find(
      ({ key }) => key.name === list.origin && isSame(key.publicKey, own?.publicKey ?? NO_KEY),
    )
    if (same === undefined && !isFormer) throw new UnlistedKeyError()
    return same !== undefined && (isFormer || own?.name === list.origin) ? [same] : []
  })
  if (found.length === 0) throw new UnlistedKeyError()
  return found
}

const NO_KEY = new Uint8Array(0)

/** Whether a key signs trees of this size. */
export function signsTreesOf({ fromSize, toSize }: KeyRange, size: number): boolean {
  return fromSize <= size && (toSize === null || size <= toSize)
}

/** Opens a note that a trusted key has signed, if the key signs trees of its size. Throws a `WrongError` otherwise. */
export async function openTrusted(
  place: string,
  note: Uint8Array,
  { origin, keys }: Pick<Trust, 'origin' | 'keys'>,
  { verifyEd25519 }: Primitives,
): Promise<OpenedCheckpoint> {
  const trusted = { origin, keys: keys.map(({ key }) => key) }
  const opened = await openCheckpoint(note, trusted, verifyEd25519)
  if (!opened.ok) throw new WrongError(place, DOUBTS[opened.doubt])
  const { checkpoint, signers } = opened.value
  if (checkpoint.extensions.length > 0) throw new WrongError(place, 'has more than origin, size and root')
  const inTime = keys.some((range) => signers.includes(range.key) && signsTreesOf(range, checkpoint.size))
  if (!inTime) throw new WrongError(place, 'is signed by a key that does not sign trees of this size')
  return opened.value
}

/**
 * Checkpoint of this log or a former one, in a note signed by any listed key. Retired keys count, because checkpoints
 * may be old.
 */
export async function openListed(
  note: Uint8Array,
  { origin, listed, formerLogs }: Trust,
  { verifyEd25519 }: Primitives,
): Promise<Verdict<Checkpoint>> {
  const parsed = parseNote(note)
  if (!parsed.ok) return parsed
  const stated = parseCheckpoint(parsed.value.text)
  if (stated === undefined) return doubted('checkpoint-malformed')
  if (stated.origin !== origin && !formerLogs.some((log) => log.origin === stated.origin))
    return doubted('other-origin')
  const keys = listed.map(({ key }) => key).filter(({ name }) => name === stated.origin)
  const opened = await openCheckpoint(note, { origin: stated.origin, keys }, verifyEd25519)
  return opened.ok ? proved(opened.value.checkpoint) : opened
}

/** Checkpoint that a trusted key has signed, with its note as served. */
export type ServedCheckpoint = Readonly<{
  checkpoint: Checkpoint
  note: Uint8Array
  signers: readonly string[]
}>

const CHECKPOINT_PLACE = 'log/checkpoint'

/** Reads the newest checkpoint. It should cover `coversSize` events; a node that is behind gets a few seconds. */
export async function askCheckpoint(
  source: Source,
  trust: Trust,
  coversSize: number,
  primitives: Primitives,
): Promise<ServedCheckpoint> {
  return askedAgain(
    source.pause,
    async () => {
      const note = await source.read(CHECKPOINT_PLACE)
      if (note === undefined) throw new WrongError(CHECKPOINT_PLACE, 'is missing')
      return openServed(CHECKPOINT_PLACE, note, trust, primitives)
    },
    ({ checkpoint }) => source.is === 'service' && checkpoint.size < coversSize,
  )
}

/** Checkpoint of the last manifest, for a folder without the newest checkpoint. */
export async function checkpointOfMonths(
  months: readonly ListedMonth[],
  trust: Trust,
  primitives: Primitives,
): Promise<ServedCheckpoint> {
  const last = months.findLast(({ manifest }) => manifest !== null)?.manifest
  if (last === undefined || last === null)
    throw new WrongError(CHECKPOINT_PLACE, 'is missing, and so is every manifest')
  return openServed(`archive/${last.month}.json`, formatUtf8(last.checkpoint), trust, primitives)
}

async function openServed(
  place: string,
  note: Uint8Array,
  trust: Trust,
  primitives: Primitives,
): Promise<ServedCheckpoint> {
  const { checkpoint, signers } = await openTrusted(place, note, trust, primitives)
  return { checkpoint, note, signers: signers.map(({ name, keyId }) => `${name}+${keyId}`) }
}
