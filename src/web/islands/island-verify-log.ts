import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import type { LogKeys } from '../../protocol/resources.ts'
import type { Checkpoint } from '../../tlog/checkpoint.ts'
import { openCheckpoint, readCheckpoint } from '../../tlog/checkpoint.ts'
import type { TreeHasher } from '../../tlog/hash.ts'
import { treeHasher } from '../../tlog/hash.ts'
import { verifyKeyChain } from '../../tlog/key-chain.ts'
import type { VerifyEd25519 } from '../../tlog/signature.ts'
import type { ReadTile } from '../../tlog/subtree.ts'
import type { Tile } from '../../tlog/tile.ts'
import { formatTilePath } from '../../tlog/tile.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import type { VerifierKey } from '../../tlog/vkey.ts'
import { formatVkey, parseVkey } from '../../tlog/vkey.ts'
import type { Path } from './island-verify-path.ts'

/** One step of a check: it held, it did not, or it did not run. Only a step that ran and held is right. */
export type CheckStep = Readonly<{
  is: 'right' | 'wrong' | 'unchecked'
  said: string
  /** Where the reader can look on. */
  links?: readonly string[]
  /** The path through the tree that it took. */
  path?: Path | undefined
}>
/** A check as it runs; what it gives in the end is undefined where a step was wrong. */
export type CheckSteps<T = void> = AsyncGenerator<CheckStep, T | undefined, undefined>

export const right = (said: string, path?: Path): CheckStep => ({ is: 'right', said, path })
export const wrongStep = (said: string, path?: Path): CheckStep => ({ is: 'wrong', said, path })
export const unchecked = (said: string, links: readonly string[] = []): CheckStep => ({
  is: 'unchecked',
  said,
  links,
})

/**
 * The log that is checked: where it is served, the key that the reader has from elsewhere, if any, and where an Ed25519
 * can be had for a browser without one, if anywhere.
 */
export type Log = Readonly<{ base: string; vkey: string; ed25519: string }>

/** SHA-256 that needs no secure context and no promise for each hash. */
export const hashNow = (bytes: Uint8Array): Uint8Array => nobleSha256(bytes)
export const hasher: TreeHasher = treeHasher(hashNow)

/** That something was not had: it proves nothing, and nobody is accused for it. */
export class NotServed extends Error {
  override readonly name = 'NotServed'
}

/** What is served at a path below `/api/v1/`; `lacking` says what it means that nothing is there. */
export async function servedBytes(
  log: Log,
  path: string,
  lacking?: string,
): Promise<Uint8Array<ArrayBuffer>> {
  let why = 'cannot be reached'
  try {
    // What was altered on its way once may not come back out of the browser's own keeping.
    const answer = await fetch(`${log.base}/api/v1/${path}`, { cache: 'no-store' })
    if (answer.ok) return new Uint8Array(await answer.arrayBuffer())
    if (answer.status === 404 && lacking !== undefined) why = lacking
    else why = `answers ${answer.status}`
    const seconds = Number(answer.headers.get('retry-after'))
    if (seconds > 0) why += `, and asks to wait ${seconds} seconds`
  } catch {
    // It broke off, or nobody answers: said as what was asked for.
  }
  throw new NotServed(why === lacking ? why : `/api/v1/${path} ${why}`)
}

export async function servedText(log: Log, path: string, lacking?: string): Promise<string> {
  return new TextDecoder().decode(await servedBytes(log, path, lacking))
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

/** A checkpoint and the vkeys that have signed it: none where nobody here can tell. */
export type SignedCheckpoint = Checkpoint & Readonly<{ keys: readonly string[] }>

/** A signed checkpoint, once a key of the log has signed it, or once it is said that nobody here can tell. */
export async function* signedCheckpoint(log: Log, note: string): CheckSteps<SignedCheckpoint> {
  const bytes = formatUtf8(note)
  const read = readCheckpoint(bytes)
  if (!read.ok) return yield* no(DOUBTS[read.doubt])
  const { checkpoint } = read.value
  const { origin, size } = checkpoint
  const given = log.vkey === '' ? [] : [parseVkey(hashNow, log.vkey)].filter((key) => key !== undefined)
  if (log.vkey !== '' && given.length === 0) return yield* no('The key that you gave is no key of a log')
  if (given.some(({ name }) => name !== origin)) return yield* no(DOUBTS['other-origin'])
  const verify = await openEd25519(log)
  if (verify === undefined) {
    const other = log.ed25519 === '' ? 'this file brings none' : 'the one of this page could not be loaded'
    yield unchecked(`The signature is not checked: this browser has no Ed25519 here, and ${other}`)
    return { ...checkpoint, keys: [] }
  }
  const keys = given.length === 0 ? await namedKeys(log, size) : await keysFrom(log, given)
  const opened = await openCheckpoint(bytes, { origin, keys, witnesses: [] }, verify)
  if (!opened.ok) return yield* no(DOUBTS[opened.doubt])
  const signers = opened.value.signed.map(({ key }) => key)
  const whose =
    given.length === 0
      ? 'the key that the log itself names'
      : signers.some((key) => given.includes(key))
        ? 'the key that you gave'
        : 'a key that follows from the one that you gave'
  const names = signers.map(({ name, keyId }) => `${name}+${keyId}`).join(', ')
  yield right(`The checkpoint of ${size} events is signed by ${whose}, ${names}`)
  return { ...checkpoint, keys: signers.map(formatVkey) }
}

/** The newest checkpoint of the log, signed. */
export async function* fetchNewestCheckpoint(log: Log): CheckSteps<SignedCheckpoint> {
  return yield* signedCheckpoint(log, await servedText(log, 'log/checkpoint'))
}

/** Says what is wrong, and ends a check. */
export async function* no(said: string, path?: Path): CheckSteps<never> {
  yield wrongStep(said, path)
  yield unchecked('What would have come after it was not checked')
  return undefined
}

async function listedKeys(log: Log): Promise<LogKeys['keys']> {
  const { keys }: LogKeys = JSON.parse(await servedText(log, 'log/keys'))
  return keys
}

/** The keys that the log names for a tree of this size. */
async function namedKeys(log: Log, size: number): Promise<readonly VerifierKey[]> {
  return (await listedKeys(log))
    .filter(({ fromSize, toSize }) => (size > fromSize || size === 0) && size <= (toSize ?? size))
    .flatMap(({ vkey }) => parseVkey(hashNow, vkey) ?? [])
}

/** The trusted keys, and the listed keys for which they vouch. */
export async function keysFrom(log: Log, trusted: readonly VerifierKey[]): Promise<readonly VerifierKey[]> {
  const verify = await openEd25519(log)
  if (verify === undefined) return trusted
  const listed = (await listedKeys(log)).flatMap(({ vkey, fromSize, statement }) => {
    const key = parseVkey(hashNow, vkey)
    return key === undefined ? [] : [{ key, fromSize, statement }]
  })
  const found = await verifyKeyChain(trusted, listed, verify)
  return [...trusted, ...found.map(({ key }) => key)]
}

/**
 * Ed25519 as this browser has it, or as the page brings it where the browser is too old or the page is not of a secure
 * origin; undefined where there is none.
 */
async function openEd25519({ ed25519 }: Log): Promise<VerifyEd25519 | undefined> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle
  const keyOf = (bytes: Uint8Array): Promise<CryptoKey> =>
    subtle.importKey('raw', new Uint8Array(bytes), 'Ed25519', false, ['verify'])
  try {
    // The base point: any browser that knows the curve takes it as a key.
    await keyOf(Uint8Array.of(0x58, ...Array.from({ length: 31 }, () => 0x66)))
  } catch {
    return loadEd25519(ed25519)
  }
  return async (key, message, signature) =>
    subtle.verify('Ed25519', await keyOf(key), new Uint8Array(signature), new Uint8Array(message))
}

type Brought = typeof import('./island-verify-signature.ts')

async function loadEd25519(path: string): Promise<VerifyEd25519 | undefined> {
  if (path === '') return undefined
  try {
    const { verifyEd25519 }: Brought = await import(path)
    return verifyEd25519
  } catch {
    return undefined
  }
}
