import type { Checkpoint, OpenedCheckpoint } from '../tlog/checkpoint.ts'
import { openCheckpoint, parseCheckpoint } from '../tlog/checkpoint.ts'
import { isSame } from '../tlog/hash.ts'
import type { ChainKey } from '../tlog/key-chain.ts'
import { verifyKeyChain } from '../tlog/key-chain.ts'
import { parseNote } from '../tlog/note.ts'
import type { Verdict } from '../tlog/verdict.ts'
import { DOUBTS, doubted, proved } from '../tlog/verdict.ts'
import { parseVkey } from '../tlog/vkey.ts'
import { WrongError } from './reading/finding.ts'
import type { JsonObject } from './reading/json-values.ts'
import { objectsOf, readObject, jsonString, jsonInteger } from './reading/json-values.ts'
import type { Primitives } from './reading/primitives.ts'

/** Where the first key comes from that everything else is trusted by. */
export type TrustBasis = 'given' | 'kept' | 'served'

/** A key that the log lists; a retired one signs trees up to `toSize`. */
export type KeyRange = ChainKey & Readonly<{ toSize: number | null }>

/** What `/log/keys` says; nothing of it is proved. */
export type KeyList = Readonly<{
  origin: string
  /** Those of former logs too, each under its log's own name. */
  keys: readonly KeyRange[]
  formerLogs: readonly FormerLogSize[]
}>

/** A log that this one goes on from, after a loss: its first `size` events are in this one, and no later ones. */
export type FormerLogSize = Readonly<{ origin: string; size: number }>

/** Keys of the longest list that is read. */
const KEYS_MAX = 256

const PLACE = 'log/keys'
const malformed = (what: string): WrongError => new WrongError(PLACE, what)

/** Reads the list of keys; one that is not well formed is wrong. */
export function readKeyList(body: Uint8Array, { sha256 }: Pick<Primitives, 'sha256'>): KeyList {
  const list = readObject(PLACE, body)
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
      throw malformed('a key is not well formed')
    }
    if (parsed.type !== 'ed25519' || !origins.has(parsed.name)) throw malformed('a key is of another log')
    return { key: parsed, fromSize, toSize, statement: jsonString(key['statement']) ?? null }
  })
  return { origin, keys: listed, formerLogs }
}

function formerLog(log: JsonObject): FormerLogSize {
  const origin = jsonString(log['origin'])
  const size = jsonInteger(log['size'])
  if (origin === undefined || size === undefined) throw malformed('a former log is not well formed')
  return { origin, size }
}

/** Whom to believe about a log. */
export type Trust = Readonly<{
  origin: string
  basis: TrustBasis
  /** The keys that follow from what is trusted. */
  keys: readonly KeyRange[]
  /** Every key listed, retired ones too: what they signed once can still be held against the tree. */
  listed: readonly KeyRange[]
  formerLogs: readonly FormerLogSize[]
}>

/**
 * The keys that follow from those trusted, through statements by which an older key names a newer one. Without any
 * key of one's own, those that the log lists are taken, which proves little. A trusted key that is not listed is wrong.
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
    throw malformed('a statement does not hold: no older key has named the newer one')
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
 * The listed keys that the trusted ones stand for. A key of this log must be listed for ever; one of a log that this one
 * goes on from counts when it is listed under this log's name too, and one of them must be.
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
    if (same === undefined && !isFormer) throw malformed(UNLISTED)
    return same !== undefined && (isFormer || own?.name === list.origin) ? [same] : []
  })
  if (found.length === 0) throw malformed(UNLISTED)
  return found
}

const NO_KEY = new Uint8Array(0)
const UNLISTED = 'the key that you trust is not among the keys of this log'

/** The checkpoint in a note that a trusted key has signed, which signs trees of that size. */
export async function openTrusted(
  place: string,
  note: Uint8Array,
  { origin, keys }: Pick<Trust, 'origin' | 'keys'>,
  { verifyEd25519 }: Primitives,
): Promise<OpenedCheckpoint> {
  const trusted = { origin, keys: keys.map(({ key }) => key), witnesses: [] }
  const opened = await openCheckpoint(note, trusted, verifyEd25519)
  if (!opened.ok) throw new WrongError(place, DOUBTS[opened.doubt])
  const { checkpoint, signed } = opened.value
  if (checkpoint.extensions.length > 0) throw new WrongError(place, 'says more than origin, size and root')
  const inTime = keys.some(
    ({ key, fromSize, toSize }) =>
      signed.some((line) => line.key === key) &&
      fromSize <= checkpoint.size &&
      (toSize === null || checkpoint.size <= toSize),
  )
  if (!inTime) throw new WrongError(place, 'is signed by a key that does not sign trees of this size')
  return opened.value
}

/**
 * The checkpoint in a note that any listed key has signed, of this log or of one that it goes on from: what was signed
 * long ago, or under a name that the log had before.
 */
export async function openListed(
  note: Uint8Array,
  { origin, listed, formerLogs }: Trust,
  { verifyEd25519 }: Primitives,
): Promise<Verdict<Checkpoint>> {
  const parsed = parseNote(note)
  if (!parsed.ok) return parsed
  const said = parseCheckpoint(parsed.value.text)
  if (said === undefined) return doubted('checkpoint-malformed')
  if (said.origin !== origin && !formerLogs.some((log) => log.origin === said.origin))
    return doubted('other-origin')
  const keys = listed.map(({ key }) => key).filter(({ name }) => name === said.origin)
  const opened = await openCheckpoint(note, { origin: said.origin, keys, witnesses: [] }, verifyEd25519)
  return opened.ok ? proved(opened.value.checkpoint) : opened
}
