import type { Checkpoint } from '../tlog/checkpoint.ts'
import { parseVkey } from '../tlog/vkey.ts'
import { WrongError } from './reading/finding.ts'
import type { ListedMonth } from './reading/manifest.ts'
import { askedAgain } from './reading/node-lag.ts'
import type { Primitives } from './reading/primitives.ts'
import type { Source } from './reading/source.ts'
import { type KeyList, openTrusted, readKeyList, type Trust, type TrustBasis, trustOf } from './trust.ts'
import { formatUtf8 } from '../tlog/text.ts'

/** Checkpoint that a trusted key has signed, with its note as served. */
export type ServedCheckpoint = Readonly<{
  checkpoint: Checkpoint
  note: Uint8Array
  signers: readonly string[]
}>

/** The user's own keys as vkeys: given now, which come first, or kept by earlier runs. */
export type OwnKeys = Readonly<{ given: readonly string[]; keptOf(origin: string): readonly string[] }>

const PLACE = 'log/checkpoint'

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
      const note = await source.read(PLACE)
      if (note === undefined) throw new WrongError(PLACE, 'is missing')
      return openServed(PLACE, note, trust, primitives)
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
  if (last === undefined || last === null) throw new WrongError(PLACE, 'is missing, and so is every manifest')
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
