import { WITNESS_STATES } from '../../protocol/enumerations.ts'
import type { ListedWitness, Witnessed } from '../../log/store/reader.ts'
import { MS_MAX, msOf } from '../../protocol/moment.ts'
import { seqOf } from '../../protocol/seq.ts'
import { areWitnesses, witnessNames, WITNESSES_MAX } from '../../tlog/quorum.ts'
import { parseVkey, type VerifierKey } from '../../tlog/vkey.ts'
import {
  jsonInteger,
  type JsonObject,
  jsonString,
  objectsOf,
  readObject,
} from '../../verify/reading/json-values.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import type { Origin } from './open-origin.ts'

/** Witnesses as the origin lists them, with their keys. Nothing of it is signed. */
export type OriginWitnesses = Omit<Witnessed, 'newest'> & Readonly<{ keys: readonly VerifierKey[] }>

/** Most bytes of `/log/witnesses`: sixteen keys of ML-DSA-44 with addresses fit. */
const WITNESSES_BYTES_MAX: number = 128 * 1024
/** Most characters of the address of a witness. */
const WITNESS_URL_LENGTH_MAX = 2_048
const PLACE = 'log/witnesses'

/**
 * Reads `/log/witnesses`. Null for a log without witnesses, and for an origin of an older version, which does not have
 * the list; undefined for a list that is not well formed.
 */
export async function readOriginWitnesses(
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

/** Whether a text is an address as a Daybook lists it: of http or https, without a name, query or fragment. */
function isWitnessUrl(text: string): boolean {
  const url = text.length <= WITNESS_URL_LENGTH_MAX ? URL.parse(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || /[?#]/.test(text)) return false
  return url.username === '' && url.password === '' && url.href.replace(/\/+$/, '') === text
}
