import type { Month } from '../../protocol/moment.ts'
import type { Hash } from '../../tlog/hash.ts'
import type { HeldChange } from '../held/held-change.ts'
import type { ListedKey, LogIdentity, MonthFile } from '../store/reader.ts'

/** Version of the messages that this Daybook writes, and the only one that it reads. */
export const MESSAGE_VERSION = 1

/** The first Daybook that reads messages of `MESSAGE_VERSION`. */
export const MESSAGE_NEEDS = '0.1.0'

/** Number of the first stream of a log. A node whose directory is empty begins with it. */
export const FIRST_STREAM = 1

/** Place of a message: a stream of one log, and the position in it, from 1. */
export type MessagePlace = Readonly<{
  v: typeof MESSAGE_VERSION
  logId: string
  stream: number
  place: number
  /** SHA-256 of all bytes of the message before. Zeros before the first stream, the seal's digest before a later one. */
  prev: Hash
}>

/** One commit of a log on an engine, or a step of its operator. */
export type Message = MessagePlace & MessageBody

/** Content of a message. */
export type MessageBody = Genesis | Commit | KeysChange | VersionChange | Seal

/** First message of a stream: the log as it is there. */
type Genesis = Readonly<{
  is: 'genesis'
  identity: LogIdentity
  keys: readonly ListedKey[]
  head: number
  root: Hash
  /** Whether messages of a move follow. The move ends with the version of its messages. */
  moving: boolean
}>

/** Everything that one commit changes. */
export type Commit = Readonly<{
  is: 'commit'
  /** Seq of the first event; the one after the head when there is none. */
  first: number
  /** Root of the tree after the commit. */
  root: Hash
  /** The line of each event. */
  lines: readonly string[]
  /** The details line of each event, null without details. */
  details: readonly (string | null)[]
  /** The ref of each event, null in an import without refs. */
  refs: readonly (PublishedRef | null)[]
  held: readonly HeldChange[]
  /** Segments of month files that end in this commit, in order. */
  segments: readonly CarriedSegment[]
  /** Signatures of history that was moved to the engine; null of a commit that is made on it. */
  moved: MovedSignatures | null
}>

/** The operator's ref of a draft, and the digest of its content. */
export type PublishedRef = Readonly<{ ref: string; digest: Uint8Array }>

/**
 * Compressed bytes of a segment, which begin at the offset `start` of their month file. No bytes stand for a segment that
 * does not fit its message: each node stores it uncompressed (`storeSegment`).
 */
export type CarriedSegment = Readonly<{ month: Month; file: MonthFile; start: number; bytes: Uint8Array }>

export const STORED_SEGMENT: Uint8Array = new Uint8Array(0)

/** Stored signatures of trees, by size, and the signed notes in the manifests of months that the commit closes. */
export type MovedSignatures = Readonly<{
  signatures: readonly Readonly<{ size: number; bytes: Uint8Array }>[]
  notes: readonly Readonly<{ size: number; note: string }>[]
}>

/** Change of the keys that sign the log: all keys after it. */
type KeysChange = Readonly<{ is: 'keys'; head: number; keys: readonly ListedKey[] }>

/** Permits this version of messages from here on. `needs` is the first Daybook that reads it. */
type VersionChange = Readonly<{ is: 'version'; frames: number; needs: string }>

/** Last message of a stream. The stream `next` is the one after it, which a log that was moved back never begins. */
type Seal = Readonly<{ is: 'seal'; head: number; root: Hash; next: number; why: SealCause }>

/**
 * Reason for which a stream ended.
 *
 * - `roll`: the log goes on in the next stream.
 * - `back`: a node has taken the log off its engine. It goes on there alone.
 * - `adopt`: a fork has ended. The log goes on in the next stream, under another id and origin.
 */
export type SealCause = (typeof SEAL_CAUSES)[number]
export const SEAL_CAUSES = ['roll', 'back', 'adopt'] as const
