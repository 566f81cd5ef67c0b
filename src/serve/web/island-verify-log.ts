import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import type { LogKeys } from '../../protocol/resources.ts'
import type { Checkpoint } from '../../tlog/checkpoint.ts'
import { openCheckpoint, readCheckpoint } from '../../tlog/checkpoint.ts'
import type { TreeHasher } from '../../tlog/hash.ts'
import { treeHasher } from '../../tlog/hash.ts'
import type { VerifyEd25519 } from '../../tlog/signature.ts'
import type { ReadTile } from '../../tlog/subtree.ts'
import type { Tile } from '../../tlog/tile.ts'
import { formatTilePath } from '../../tlog/tile.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import type { VerifierKey } from '../../tlog/vkey.ts'
import { parseVkey } from '../../tlog/vkey.ts'

/** One step of a check: it held, it did not, or it did not run. Only a step that ran and held is right. */
export type Step = Readonly<{ is: 'right' | 'wrong' | 'unchecked'; said: string }>
/** A check as it runs; what it gives in the end is undefined where a step was wrong. */
export type Steps<T = void> = AsyncGenerator<Step, T | undefined, undefined>

export const right = (said: string): Step => ({ is: 'right', said })
export const wrong = (said: string): Step => ({ is: 'wrong', said })
export const unchecked = (said: string): Step => ({ is: 'unchecked', said })

/** The log that is checked: where it is served, and the key that the reader has from elsewhere, if any. */
export type Log = Readonly<{ base: string; vkey: string }>

/** SHA-256 that needs no secure context and no promise for each hash. */
export const sha256 = (bytes: Uint8Array): Uint8Array => nobleSha256(bytes)
export const hasher: TreeHasher = treeHasher(sha256)

/** What is served at a path below `/api/v1/`; throws with the status where it is not. */
export async function served(log: Log, path: string): Promise<Response> {
  const answer = await fetch(`${log.base}/api/v1/${path}`, { cache: 'no-cache' })
  if (!answer.ok) throw new Error(`/api/v1/${path} answers ${answer.status}`)
  return answer
}

export async function servedBytes(log: Log, path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await (await served(log, path)).arrayBuffer())
}

/** Fetches tiles of the tree, each once, to be read without waiting. */
export async function tileReader(log: Log, tiles: readonly Tile[]): Promise<ReadTile> {
  const read = new Map<string, Uint8Array>()
  for (const tile of tiles) {
    const path = formatTilePath(tile)
    read.set(path, await servedBytes(log, `log/${path}`))
  }
  return (tile) => read.get(formatTilePath(tile)) ?? new Uint8Array()
}

/** A signed checkpoint, once a key of the log has signed it, or once it is said that nobody here can tell. */
export async function* signedCheckpoint(log: Log, note: string): Steps<Checkpoint> {
  const bytes = formatUtf8(note)
  const read = readCheckpoint(bytes)
  if (!read.ok) return yield* no(DOUBTS[read.doubt])
  const { checkpoint } = read.value
  const keys = await keysFor(log, checkpoint)
  if (keys === undefined) return yield* no('The key that you gave is no key of a log')
  const [origin = checkpoint.origin] = keys.map(({ name }) => name)
  if (origin !== checkpoint.origin) return yield* no(DOUBTS['other-origin'])
  const verify = await openEd25519()
  if (verify === undefined) {
    yield unchecked('The signature is not checked by this browser: it has no Ed25519 here')
    return checkpoint
  }
  const opened = await openCheckpoint(bytes, { origin, keys, witnesses: [] }, verify)
  if (!opened.ok) return yield* no(DOUBTS[opened.doubt])
  const whose = log.vkey === '' ? 'the key that the log itself names' : 'the key that you gave'
  yield right(`The checkpoint of ${checkpoint.size} events is signed by ${whose}, ${nameOf(keys)}`)
  return checkpoint
}

/** Says what is wrong, and ends a check. */
export async function* no(said: string): Steps<never> {
  yield wrong(said)
  yield unchecked('What would have come after it was not checked')
  return undefined
}

const nameOf = (keys: readonly VerifierKey[]): string =>
  keys.map(({ name, keyId }) => `${name}+${keyId}`).join(', ')

/** The key that was given, or those that the log names for a tree of this size. */
async function keysFor(log: Log, { size }: Checkpoint): Promise<readonly VerifierKey[] | undefined> {
  if (log.vkey !== '') {
    const key = parseVkey(sha256, log.vkey)
    return key === undefined ? undefined : [key]
  }
  const { keys }: LogKeys = await (await served(log, 'log/keys')).json()
  return keys
    .filter(({ fromSize, toSize }) => (size > fromSize || size === 0) && size <= (toSize ?? size))
    .flatMap(({ vkey }) => parseVkey(sha256, vkey) ?? [])
}

/** Ed25519 as this browser has it; undefined where it has none, or where the page is not of a secure origin. */
async function openEd25519(): Promise<VerifyEd25519 | undefined> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle
  const keyOf = (bytes: Uint8Array): Promise<CryptoKey> =>
    subtle.importKey('raw', new Uint8Array(bytes), 'Ed25519', false, ['verify'])
  try {
    // The base point: any browser that knows the curve takes it as a key.
    await keyOf(Uint8Array.of(0x58, ...Array.from({ length: 31 }, () => 0x66)))
  } catch {
    return undefined
  }
  return async (key, message, signature) =>
    subtle.verify('Ed25519', await keyOf(key), new Uint8Array(signature), new Uint8Array(message))
}
