import { formatUtf8 } from '../../tlog/note.ts'
import { mayPass } from '../../client/ask.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { ContradictionError } from '../proof/contradiction.ts'
import { AnotherLogError, openOrigin, type Origin, retried } from '../origin/open-origin.ts'
import {
  type OriginStatus,
  readKeysBody,
  readOriginKeys,
  readOriginStatus,
  readOriginTree,
} from '../origin/origin-answers.ts'
import type { OriginKeys } from '../proof/origin-keys.ts'
import { type MonthEnd, type ProvenTree, provenTree } from '../proof/proven-tree.ts'
import { placeOfTree, rollback, type TreePlace } from './judge-tree.ts'
import type { MirrorStore } from './mirror-store.ts'
import { openPassWitnessed } from './pass-witnessed.ts'
import { openStreamFeed, type StreamFeed } from './stream-feed.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { readKeyList } from '../../verify/trust.ts'
import { jsonString, objectsOf, readObject } from '../../verify/reading/json-values.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import { MismatchError } from '../book/mirror-book.ts'
import { catchUpWith, openEntryTaker, withServedMonths } from '../book/catch-up.ts'

/** Parts of the follower, and its reports. */
export type FollowingParts = Readonly<{
  origin: Origin
  store: MirrorStore
  /** Folder for downloaded files. */
  folder: string
  archiveEventsMin: number
  signal: AbortSignal
  /** Checkpoints that did not come from the origin. They are removed when they are judged. */
  shown: string[]
  /** Called when the origin has shown a seq. */
  onOriginHead(seq: number): void
  /** Called when a checkpoint, requested at `askedMs`, agrees with the whole mirror. */
  onProved(askedMs: number): void
  /** Called with the status of the origin. */
  onStatus(word: Pick<OriginStatus, 'head' | 'held' | 'upstream'>): void
}>

/** Follows an origin until something fails. */
type FollowingLog = Readonly<{
  /** Follows without end. Rejects with a failure, after which it may be called again. */
  follow(): Promise<never>
}>

/** Shortest time between two checkpoints, in milliseconds. */
const CHECKPOINT_MS = 2_000
/** Time after which a checkpoint is requested although nothing has changed. */
const IDLE_MS = 20_000
/** Time between two requests for the held drafts and the witnesses. */
const STATUS_MS = 30_000
/** Time for which the origin may show an older tree, because a cache or one of several nodes may be behind. */
const ROLLBACK_MS = 60_000
/** Time between two checkpoints while it does. */
const BEHIND_MS = 5_000
/** Attempts after a wrong checkpoint or a wrong list of keys. */
const MISTAKES_MAX = 3

const ONCE = { attemptsMax: 1 } as const

/** Opens the follower that writes an origin's log to an open store. */
export function openFollowing(parts: FollowingParts): FollowingLog {
  const { origin, store, signal } = parts
  const { now } = origin.around
  const checkpoints = openCheckpoints(parts)
  const judge = openJudge(parts)
  const witnessed = openPassWitnessed(parts)
  let statusAt = -STATUS_MS

  /** Requests the newest checkpoint. Applies a larger tree, and judges any other. */
  async function accept(feed: StreamFeed | null): Promise<'followed' | 'reopen'> {
    const { tree, keys, askedMs } = await checkpoints.newest()
    const own = store.checkpoint()
    const place = placeOfTree(store.book, own, tree)
    if (!(await judge.isLevelOrAhead(place, tree))) return 'followed'
    if (place === 'level') {
      if (tree.note !== own) store.signAgain(tree, keys)
      parts.onProved(askedMs)
      return 'followed'
    }
    const { folder, archiveEventsMin } = parts
    const apply = { origin, store, keys, folder, archiveEventsMin, signal }
    const isDone = feed !== null && (await applyFromStream(apply, feed, tree))
    if (!isDone) await applyFromPages(apply, tree)
    parts.onProved(askedMs)
    return isDone ? 'followed' : 'reopen'
  }

  async function askStatus(): Promise<void> {
    if (now() - statusAt < STATUS_MS) return
    statusAt = now()
    parts.onStatus(await readOriginStatus(origin, signal, ONCE))
    const keys = checkpoints.keys()
    if (keys !== null) await witnessed.ask(keys)
  }

  /** Follows with one stream, until that is no longer usable. */
  async function followStream(): Promise<void> {
    await using stack = new AsyncDisposableStack()
    const feed = openStreamFeed(origin, store.book.next(), signal)
    stack.defer(() => feed.close())
    for (;;) {
      await somethingNew(parts, feed)
      await judgeShown(parts, checkpoints)
      if ((await accept(feed)) === 'reopen') return
      judge.wasRight()
      await askStatus()
    }
  }

  return {
    async follow() {
      for (;;) {
        try {
          await judgeShown(parts, checkpoints)
          await accept(null)
          judge.wasRight()
          await askStatus()
          await followStream()
        } catch (error) {
          signal.throwIfAborted()
          throw await judge.judged(error)
        }
      }
    },
  }
}

/**
 * Waits until the stream has shown a newer event, or for `IDLE_MS`. While the stream is broken, waits only for
 * `CHECKPOINT_MS`, because the stream waits longer before it reconnects. Throws the error that has ended the stream.
 */
async function somethingNew(parts: FollowingParts, feed: StreamFeed): Promise<void> {
  const { now } = parts.origin.around
  const since = now()
  const until = (): number => since + (feed.isBroken() ? CHECKPOINT_MS : IDLE_MS)
  do {
    await feed.changed(Math.max(0, until() - now()))
    parts.signal.throwIfAborted()
    parts.onOriginHead(feed.head())
    if (feed.error() !== null) throw feed.error()
  } while (feed.head() <= parts.store.book.head().seq && now() < until())
}

type Checkpoints = Readonly<{
  /** Keys that proved the newest checkpoint; null before the first. */
  keys(): OriginKeys | null
  /** Newest checkpoint. `askedMs` is the time of the request, by the clock of the surroundings. */
  newest(): Promise<Readonly<{ tree: ProvenTree; keys: OriginKeys; askedMs: number }>>
}>

/** Opens the requests for checkpoints, with the keys that prove them. */
function openCheckpoints({ origin, store, signal, onOriginHead }: FollowingParts): Checkpoints {
  const { now, sleep } = origin.around
  let known: OriginKeys | null = null
  let askedAt = -CHECKPOINT_MS

  /** Keys of the store. The operator may have pinned a key that it does not list yet. */
  async function firstKeys(): Promise<OriginKeys> {
    try {
      return await store.knownKeys()
    } catch (error) {
      if (!(error instanceof WrongError)) throw error
      return (await readOriginKeys(origin, store.pins, signal, ONCE)).keys
    }
  }

  return {
    keys: () => known,
    async newest() {
      const waitMs = askedAt + CHECKPOINT_MS - now()
      if (waitMs > 0) await sleep(waitMs, signal)
      askedAt = now()
      known ??= await firstKeys()
      const read = await readOriginTree(origin, known, store.pins, signal, ONCE)
      known = read.keys
      onOriginHead(read.tree.size)
      return { ...read, askedMs: askedAt }
    },
  }
}

/** Throws a `ContradictionError` for a checkpoint that the log has signed with another tree than the mirror's. */
async function judgeShown({ store, shown }: FollowingParts, checkpoints: Checkpoints): Promise<void> {
  const note = shown.pop()
  if (note === undefined) return
  try {
    const keys = checkpoints.keys() ?? (await store.knownKeys())
    const tree = await provenTree('a submitted checkpoint', formatUtf8(note), keys)
    placeOfTree(store.book, store.checkpoint(), tree, note)
  } catch (error) {
    // A mistake in a submitted checkpoint says nothing about the origin.
    if (!(error instanceof WrongError)) throw error
  }
}

type Judge = Readonly<{
  /** Whether a tree may be applied. Throws a `ContradictionError` when an older one was shown for too long. */
  isLevelOrAhead(place: TreePlace, tree: ProvenTree): Promise<boolean>
  /** Forgets earlier mistakes. */
  wasRight(): void
  /** The error to report in place of this one. */
  judged(error: unknown): Promise<unknown>
}>

/** Opens the decision whether a failure may pass. */
function openJudge({ origin, store, signal }: FollowingParts): Judge {
  const { now, sleep } = origin.around
  let behindSince: number | null = null
  let mistakes = 0
  return {
    async isLevelOrAhead(place, tree) {
      if (place !== 'behind') {
        behindSince = null
        return true
      }
      behindSince ??= now()
      if (now() - behindSince >= ROLLBACK_MS) throw rollback(store.checkpoint(), tree, store.book.head().seq)
      await sleep(BEHIND_MS, signal)
      return false
    },
    wasRight: () => void (mistakes = 0),
    async judged(error) {
      // An outage does not count as showing an older tree. A refused cursor does: it is the answer of an older log.
      if (error instanceof DaybookError && mayPass(error)) behindSince = null
      if (error instanceof AnotherLogError)
        return anotherLog(origin, store.identity, store.checkpoint(), signal)
      if (!(error instanceof WrongError)) return error
      mistakes += 1
      if (mistakes < MISTAKES_MAX) return error
      const files = { 'own.checkpoint': store.checkpoint(), ...origin.shown() }
      return new ContradictionError(error.message, files, { cause: error })
    },
  }
}

/**
 * Error for an origin that has named another log in an answer. If its list of keys confirms it, this is a
 * contradiction. Otherwise another service behind the same address may have answered, which is a temporary failure.
 */
async function anotherLog(
  origin: Origin,
  { id }: LogIdentity,
  own: string,
  signal: AbortSignal,
): Promise<ContradictionError | DaybookError> {
  const unchecked = openOrigin(origin.url, origin.around, () => undefined)
  const body = await readKeysBody(unchecked, signal)
  // A malformed list says nothing about any log.
  readKeyList(body, NODE_PRIMITIVES)
  const list = readObject('log/keys', body)
  if (jsonString(list['logId']) === id)
    return new DaybookError('another-log', 'the origin answers for two logs')
  await unchecked
    .read('log/checkpoint', { bytesMax: body.length + NOTE_BYTES_MAX }, signal)
    .catch(() => undefined)
  const continued = objectsOf(list['formerLogs'])?.find((log) => log['id'] === id)
  const reason =
    continued === undefined
      ? 'the origin has another log now, which does not continue the mirrored one'
      : `the origin has lost events and begun a new log, which continues the first ${Number(continued['size'])}: --follow-former continues with it`
  return new ContradictionError(reason, { 'own.checkpoint': own, ...unchecked.shown() })
}

const NOTE_BYTES_MAX = 65_536

/** Parts with which a larger tree is applied. */
type ApplyParts = Pick<FollowingParts, 'origin' | 'store' | 'folder' | 'archiveEventsMin' | 'signal'> &
  Readonly<{ keys: OriginKeys }>

/**
 * Events after which the end of a month with a trusted signature is committed separately, so that transactions stay
 * small in a long gap.
 */
const MONTH_COMMIT_EVENTS = 10_000
/** Longest wait in milliseconds for events that a checkpoint covers and the stream has not brought. */
const STREAM_WAIT_MS = 2_000
/** Attempts to read events whose tree is not the signed one, because an answer may have been damaged on its way. */
const PROOF_ATTEMPTS_MAX = 3
const RETRY_MS = 1_000

/**
 * Applies a larger tree that the log has signed from the stream, in one commit. Returns false when the stream has shown
 * other events or none. Then the stream is no longer usable.
 */
async function applyFromStream(
  { origin, store, keys, signal }: ApplyParts,
  feed: StreamFeed,
  tree: ProvenTree,
): Promise<boolean> {
  const { book } = store
  const after = book.head().seq
  let entries = feed.take(after, tree.size)
  if (entries === null && feed.error() === null) {
    await feed.changed(STREAM_WAIT_MS)
    entries = feed.take(after, tree.size)
  }
  if (entries === null) return false
  const taker = openEntryTaker({ origin, book, keys, signal }, () => undefined)
  return inTransaction(store, keys, tree, () => taker.take(entries, tree.size)).then(
    () => true,
    (error: unknown) => {
      if (isWrong(error)) return false
      throw error
    },
  )
}

/** Applies a larger tree from month files and pages. Throws a `ContradictionError` when they show other events. */
async function applyFromPages(parts: ApplyParts, tree: ProvenTree): Promise<void> {
  const { origin, store, keys, signal } = parts
  const { book } = store
  /** Commits the end of a month that a trusted key has signed. */
  function onMonthEnd({ trusted: end }: MonthEnd): void {
    // The target proves every other end, so these are committed with it. Anyone can list a retired key.
    if (end === null || end.size >= tree.size) return
    if (end.size - store.shownSeq() < MONTH_COMMIT_EVENTS) return
    store.putKeys(keys)
    store.commit(end)
    book.begin()
  }
  const catchUp = { ...parts, book, onBatch: () => false, onMonthEnd }
  const apply = (): Promise<void> => inTransaction(store, keys, tree, () => catchUpWith(catchUp, tree))
  try {
    await retried(() => withServedMonths({ ...parts, book }, apply), {
      attemptsMax: PROOF_ATTEMPTS_MAX,
      waitMs: RETRY_MS,
      mayPass: isWrong,
      around: origin.around,
      signal,
    })
  } catch (error) {
    if (!isWrong(error)) throw error
    const files = { 'own.checkpoint': store.checkpoint(), 'served.checkpoint': tree.note }
    throw new ContradictionError(error.message, { ...origin.shown(), ...files }, { cause: error })
  }
}

const isWrong = (error: unknown): error is WrongError | MismatchError =>
  error instanceof WrongError || error instanceof MismatchError

async function inTransaction(
  store: MirrorStore,
  keys: OriginKeys,
  tree: ProvenTree,
  take: () => Promise<void>,
): Promise<void> {
  store.book.begin()
  try {
    await take()
    store.putKeys(keys)
    store.commit(tree)
  } catch (error) {
    store.book.rollback()
    throw error
  }
}
