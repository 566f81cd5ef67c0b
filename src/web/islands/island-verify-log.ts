import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import type { LogKeys } from '../../protocol/status-resources.ts'
import { type Checkpoint, openCheckpoint, readCheckpoint } from '../../tlog/checkpoint.ts'
import { type TreeHasher, treeHasher } from '../../tlog/hash.ts'
import { verifyKeyChain } from '../../tlog/key-chain.ts'
import type { Verify } from '../../tlog/signature.ts'
import type { ReadTile } from '../../tlog/subtree.ts'
import { formatTilePath, type Tile } from '../../tlog/tile.ts'
import { formatUtf8 } from '../../tlog/text.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import { formatVkey, parseVkey, type VerifierKey } from '../../tlog/vkey.ts'
import type { Path } from './island-verify-path.ts'

/** Result of a step of a check: it passed, it failed, or it was not run. */
export type CheckStep = Readonly<{
  is: 'right' | 'wrong' | 'unchecked'
  message: string
  /** URLs for a further look. */
  links?: readonly string[]
  /** The path through the tree, when the step has one. */
  path?: Path | undefined
  /** Whether it is the last step of a first visit, which compares nothing. */
  isFirst?: boolean
  /** Replaces the limit that others may be shown another log, when witnesses of the reader's own vouch for it. */
  shared?: string
}>
/** A running check, which yields its steps. Its result is undefined when a step failed. */
export type CheckSteps<T = void> = AsyncGenerator<CheckStep, T | undefined, undefined>

export const passed = (message: string, path?: Path): CheckStep => ({ is: 'right', message, path })
export const failedStep = (message: string, path?: Path): CheckStep => ({ is: 'wrong', message, path })
export const unchecked = (message: string, links: readonly string[] = []): CheckStep => ({
  is: 'unchecked',
  message,
  links,
})

/**
 * The checked log: its base URL, the key that the reader gives (or empty), and the URL of an Ed25519 module for
 * browsers without one (or empty). `say` shows why a check waits; an empty text when it goes on.
 */
export type Log = Readonly<{ base: string; vkey: string; ed25519: string; say(text: string): void }>

/** Waits for the rate limit that one request takes, and the longest of them. */
const WAITS_MAX = 3
const WAIT_SECONDS_MAX = 60
const RATE_LIMITED = 429

/** Synchronous SHA-256, which needs no secure context. */
export const sha256Sync = (bytes: Uint8Array): Uint8Array => nobleSha256(bytes)
export const hasher: TreeHasher = treeHasher(sha256Sync)

/** A failed request. It is no proof of anything wrong. */
export class NotServed extends Error {
  override readonly name = 'NotServed'
}

/**
 * Fetches a path below `/api/v1/`. `lacking` is the message for a 404. Waits for the rate limit as it asks to, within
 * bounds.
 */
export async function servedBytes(
  log: Log,
  path: string,
  lacking?: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const at = `/api/v1/${path}`
  let why = `${at} cannot be reached`
  try {
    for (let waits = 0; ; waits += 1) {
      // Not from the browser's cache, which may hold an altered answer.
      const answer = await fetch(log.base + at, { cache: 'no-store' })
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer())
      const seconds = Number(answer.headers.get('retry-after'))
      const isLimited = answer.status === RATE_LIMITED
      if (!isLimited || waits === WAITS_MAX || !(seconds > 0 && seconds <= WAIT_SECONDS_MAX)) {
        why = isLimited
          ? 'Too many requests from your address'
          : (answer.status === 404 && lacking) || `${at} answers ${answer.status}`
        if (seconds > 0) why += `. Try again in ${seconds} s`
        break
      }
      log.say(`Rate limit reached. Continuing in ${seconds} s …`)
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      log.say('')
    }
  } catch {
    // The connection broke, or there is none; the error names the path.
  }
  throw new NotServed(why)
}

export async function servedText(log: Log, path: string, lacking?: string): Promise<string> {
  return new TextDecoder().decode(await servedBytes(log, path, lacking))
}

/** Fetches tiles of the tree and returns a synchronous reader of them. */
export async function tileReader(log: Log, tiles: readonly Tile[]): Promise<ReadTile> {
  const read = new Map<string, Uint8Array>()
  for (const tile of tiles) {
    const path = formatTilePath(tile)
    read.set(path, await servedBytes(log, `log/${path}`))
  }
  return (tile) => read.get(formatTilePath(tile)) ?? new Uint8Array()
}

/** A checkpoint and the verifier keys that signed it; empty when the signature cannot be checked. */
export type SignedCheckpoint = Checkpoint & Readonly<{ keys: readonly string[] }>

/**
 * Checks the signature of a checkpoint. Without Ed25519 the step is unchecked and the check goes on. It does so too for an
 * `isOld` checkpoint of any listed key, such as a retired one: the caller checks that the newest one extends it.
 */
export async function* signedCheckpoint(
  log: Log,
  note: string,
  isOld: boolean = false,
): CheckSteps<SignedCheckpoint> {
  const bytes = formatUtf8(note)
  const read = readCheckpoint(bytes)
  if (!read.ok) return yield* failed(DOUBTS[read.doubt])
  const { checkpoint } = read.value
  const { origin, size } = checkpoint
  const given = log.vkey === '' ? [] : [parseVkey(sha256Sync, log.vkey)].filter((key) => key !== undefined)
  if (log.vkey !== '' && given.length === 0) return yield* failed('The key that you gave is no key of a log')
  if (!isOld && given.some(({ name }) => name !== origin)) return yield* failed(DOUBTS['other-origin'])
  const verify = await openEd25519(log)
  if (verify === undefined) {
    const other = log.ed25519 === '' ? 'this file brings none' : 'that of this page could not be loaded'
    yield unchecked(`The signature is not checked: this browser has no Ed25519 here, and ${other}`)
    return { ...checkpoint, keys: [] }
  }
  const keys = given.length === 0 ? await namedKeys(log, size) : await keysFrom(log, given)
  const opened = await openCheckpoint(bytes, { origin, keys }, verify)
  if (!opened.ok) {
    const listed = isOld ? keysIn(await listedKeys(log)).filter(({ name }) => name === origin) : []
    if (!(await openCheckpoint(bytes, { origin, keys: listed }, verify)).ok)
      return yield* failed(DOUBTS[opened.doubt])
    yield unchecked(
      `The checkpoint of ${size} events is signed by another key that the log lists. It proves nothing until the newest one extends it`,
    )
    return { ...checkpoint, keys: [] }
  }
  const { signers } = opened.value
  const whose =
    given.length === 0
      ? 'the key that the log itself names'
      : signers.some((key) => given.includes(key))
        ? 'the key that you gave'
        : 'a key that follows from the one that you gave'
  const names = signers.map(({ name, keyId }) => `${name}+${keyId}`).join(', ')
  yield passed(`The checkpoint of ${size} events is signed by ${whose}, ${names}`)
  return { ...checkpoint, keys: signers.map(formatVkey) }
}

/** Fetches the newest checkpoint and checks its signature. */
export async function* fetchNewestCheckpoint(log: Log): CheckSteps<SignedCheckpoint> {
  return yield* signedCheckpoint(log, await servedText(log, 'log/checkpoint'))
}

/** Yields a failed step and ends the check. */
export async function* failed(message: string, path?: Path): CheckSteps<never> {
  yield failedStep(message, path)
  yield unchecked('The remaining steps were not checked')
  return undefined
}

async function listedKeys(log: Log): Promise<LogKeys['keys']> {
  const { keys }: LogKeys = JSON.parse(await servedText(log, 'log/keys'))
  return keys
}

function keysIn(listed: LogKeys['keys']): readonly VerifierKey[] {
  return listed.flatMap(({ vkey }) => parseVkey(sha256Sync, vkey) ?? [])
}

/** Keys that the log lists for a tree of this size. */
async function namedKeys(log: Log, size: number): Promise<readonly VerifierKey[]> {
  const listed = await listedKeys(log)
  return keysIn(listed.filter(({ fromSize, toSize }) => fromSize <= size && size <= (toSize ?? size)))
}

/** The trusted keys, and the listed keys that they vouch for. */
export async function keysFrom(log: Log, trusted: readonly VerifierKey[]): Promise<readonly VerifierKey[]> {
  const verify = await openEd25519(log)
  if (verify === undefined) return trusted
  const listed = (await listedKeys(log)).flatMap(({ vkey, fromSize, statement }) => {
    const key = parseVkey(sha256Sync, vkey)
    return key === undefined ? [] : [{ key, fromSize, statement }]
  })
  const found = await verifyKeyChain(trusted, listed, verify)
  return [...trusted, ...found.map(({ key }) => key)]
}

/**
 * Ed25519 of the browser, or of the page's module when the browser is too old or the origin is not secure. Undefined
 * without both.
 */
export async function openEd25519({ ed25519 }: Log): Promise<Verify | undefined> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle
  const keyOf = (bytes: Uint8Array): Promise<CryptoKey> =>
    subtle.importKey('raw', new Uint8Array(bytes), 'Ed25519', false, ['verify'])
  try {
    // The base point is a valid key, so the import fails only without support for the curve.
    await keyOf(Uint8Array.of(0x58, ...Array.from({ length: 31 }, () => 0x66)))
  } catch {
    return loadEd25519(ed25519)
  }
  return async (key, message, signature) =>
    subtle.verify('Ed25519', await keyOf(key), new Uint8Array(signature), new Uint8Array(message))
}

type Ed25519Module = typeof import('./island-verify-signature.ts')

async function loadEd25519(path: string): Promise<Verify | undefined> {
  if (path === '') return undefined
  try {
    const { verifyEd25519 }: Ed25519Module = await import(path)
    return verifyEd25519
  } catch {
    return undefined
  }
}
