import { DaybookError } from '../../client/daybook-error.ts'
import type { ListedWitness, Witnessed, WitnessedCheckpoint } from '../../log/store/reader.ts'
import { newerWitnessed, vouchedCheckpoint } from '../../log/witnessed/vouched-checkpoint.ts'
import { forgetWitnessed, keepWitnessed, openWitnessedFile } from '../../log/witnessed/witnessed-file.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import { NOTE_BYTES_MAX, parseNote, parseVkey, type VerifierKey } from '../../tlog/note.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { WITNESSED_PATH } from '../../verify/witnesses.ts'
import type { Origin } from '../origin/open-origin.ts'
import type { OriginKeys } from '../proof/origin-keys.ts'
import { provenTree } from '../proof/proven-tree.ts'
import { placeOfTree } from './judge-tree.ts'
import type { MirrorStore } from './mirror-store.ts'
import { WITNESS_STATES } from '../../protocol/enumerations.ts'
import { MS_MAX, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { areWitnesses, WITNESSES_MAX, witnessNames } from '../../tlog/quorum.ts'
import {
  jsonInteger,
  type JsonObject,
  jsonString,
  objectsOf,
  readObject,
} from '../../verify/reading/json-values.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'

/** Passes on the checkpoints that the log's witnesses vouch for. */
type PassWitnessed = Readonly<{
  /**
   * Requests the origin's witnesses and their newest checkpoint, and stores both. A checkpoint that is malformed,
   * unproved, or newer than the mirror is not stored, and is requested again later. Throws a `ContradictionError` when
   * the log has signed another tree than the mirror's, an `AnotherLogError`, and disk errors.
   */
  ask(keys: OriginKeys): Promise<void>
}>

type PassParts = Readonly<{ origin: Origin; store: MirrorStore; signal: AbortSignal }>

/** Opens the passing on of witnessed checkpoints into the mirror's directory. Sends no request by itself. */
export function openPassWitnessed({ origin, store, signal }: PassParts): PassWitnessed {
  const { dataDirectory } = store
  let kept = openWitnessedFile(dataDirectory)()

  function keep(witnessed: Witnessed | null): void {
    if (JSON.stringify(witnessed) === JSON.stringify(kept)) return
    if (witnessed === null) forgetWitnessed(dataDirectory)
    else keepWitnessed(dataDirectory, witnessed)
    kept = witnessed
  }

  /** Size of the checkpoint in a note, if the mirror has its tree. */
  async function covered(body: Uint8Array, keys: OriginKeys): Promise<number | null> {
    const tree = await provenTree(WITNESSED_PATH, body, keys)
    const place = placeOfTree(store.book, store.checkpoint(), tree, body)
    return place === 'ahead' || tree.size === 0 ? null : tree.size
  }

  async function served(keys: OriginKeys, witnesses: OriginWitnesses): Promise<WitnessedCheckpoint | null> {
    const body = await origin.read(WITNESSED_PATH, { bytesMax: NOTE_BYTES_MAX, attemptsMax: 1 }, signal)
    if (body === undefined) return null
    const size = await covered(body, keys)
    const note = parseNote(body)
    return size === null || !note.ok ? null : await vouchedCheckpoint(note.value, size, witnesses)
  }

  /** Stored checkpoint, if it has the mirror's tree and the listed witnesses still form a quorum on it. */
  async function still(witnesses: OriginWitnesses): Promise<WitnessedCheckpoint | null> {
    const read = readCheckpoint(Buffer.from(kept?.newest?.note ?? ''))
    if (!read.ok) return null
    const { checkpoint, note } = read.value
    const { origin: name, size, root } = checkpoint
    const isOwn = name === store.identity.origin && size <= store.book.head().seq
    if (!isOwn || !isSame(store.book.treeAt(size).root, root)) return null
    return await vouchedCheckpoint(note, size, witnesses)
  }

  return {
    async ask(keys) {
      const witnesses = await unlessUnusable(readOriginWitnesses(origin, signal), signal)
      if (witnesses === undefined) return
      if (witnesses === null) return keep(null)
      const found = (await unlessUnusable(served(keys, witnesses), signal)) ?? null
      const { quorum, witnesses: rows } = witnesses
      keep({ quorum, witnesses: rows, newest: newerWitnessed(await still(witnesses), found) })
    },
  }
}

/** Result of a request. Undefined for an unusable answer, which the requests for checkpoints report too. */
async function unlessUnusable<T>(asked: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof WrongError || error instanceof DaybookError) return undefined
    throw error
  }
}

/** Witnesses in the origin's list, with their keys. The list is unsigned. */
type OriginWitnesses = Omit<Witnessed, 'newest'> & Readonly<{ keys: readonly VerifierKey[] }>

/** Most bytes of `/log/witnesses`, enough for sixteen keys of ML-DSA-44 with addresses. */
const WITNESSES_BYTES_MAX: number = 128 * 1024
/** Most characters of the address of a witness. */
const WITNESS_URL_LENGTH_MAX = 2_048
const PLACE = 'log/witnesses'

/**
 * Reads `/log/witnesses`. Null for a log without witnesses, and for an origin of an older version without the list.
 * Undefined for a malformed list.
 */
async function readOriginWitnesses(
  origin: Origin,
  signal: AbortSignal,
): Promise<OriginWitnesses | null | undefined> {
  const body = await origin.read(PLACE, { bytesMax: WITNESSES_BYTES_MAX, attemptsMax: 1 }, signal)
  return body === undefined ? null : parseWitnesses(readObject(PLACE, body))
}

function parseWitnesses(json: JsonObject): OriginWitnesses | null | undefined {
  const rows = objectsOf(json['witnesses'])
  if (rows?.length === 0 && json['quorum'] === null) return null
  if (rows === undefined || rows.length > WITNESSES_MAX) return undefined
  const parsed = rows.map(parseRow)
  const witnesses = parsed.flatMap((row) => row?.witness ?? [])
  const keys = parsed.flatMap((row) => row?.key ?? [])
  const quorum = jsonInteger(json['quorum']) ?? 0
  const names = witnessNames(keys).length
  const isWhole = keys.length === rows.length && areWitnesses(keys) && quorum >= 1 && quorum <= names
  return isWhole ? { quorum, witnesses, keys } : undefined
}

function parseRow(row: JsonObject): Readonly<{ key: VerifierKey; witness: ListedWitness }> | undefined {
  const vkey = jsonString(row['vkey']) ?? ''
  const key = parseVkey(NODE_PRIMITIVES.sha256, vkey)
  const url = jsonString(row['url']) ?? ''
  const state = WITNESS_STATES.find((known) => known === row['state'])
  if (key === undefined || state === undefined || !isWitnessUrl(url)) return undefined
  if (row['seq'] === null && row['atMs'] === null)
    return { key, witness: { vkey, url, state, seq: null, atMs: null } }
  const [seq, atMs] = [jsonInteger(row['seq']), jsonInteger(row['atMs'])]
  if (seq === undefined || atMs === undefined || atMs > MS_MAX) return undefined
  return { key, witness: { vkey, url, state, seq: seqOf(seq), atMs: msOf(atMs) } }
}

/** Whether a text is an address in the form that Daybook lists: http or https, without user, query and fragment. */
function isWitnessUrl(text: string): boolean {
  const url = text.length <= WITNESS_URL_LENGTH_MAX ? URL.parse(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(text)) return false
  return url.username === '' && url.password === '' && url.href.replace(/\/+$/, '') === text
}
