import { linkSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DaybookError } from '../client/daybook-error.ts'
import { ARCHIVE_EVENTS_MIN } from '../client/follow.ts'
import { markHighWater, readHighWater } from '../log/store/high-water.ts'
import type { LogIdentity } from '../log/store/reader.ts'
import { isFull, isPassingFault } from '../log/store/sqlite-error.ts'
import { hasStore, openForWriting, readIdentity, StoreError, storePath } from '../log/store/store.ts'
import { faultAtStart, headOf } from '../log/tree/log-fault.ts'
import { replaceKeys } from '../log/tree/signing-keys.ts'
import { openSignedTrees } from '../log/tree/signed-trees.ts'
import { sumOfAccounts } from '../project/fold/ledger.ts'
import { reasonOf } from '../protocol/error-reason.ts'
import { WrongError } from '../verify/reading/finding.ts'
import { UnlistedKeyError } from '../verify/trust.ts'
import { type BuildingMirror, openBuildingMirror, removeBuildingMirror } from './book/building-mirror.ts'
import { type MirrorBook, MismatchError, openMirrorBook } from './book/mirror-book.ts'
import { type CatchUp, catchUpWith, withServedMonths } from './book/catch-up.ts'
import { type Contradicted, ContradictionError, keepEvidence } from './proof/contradiction.ts'
import type { MirrorProgress, MirrorSettings } from './mirror-settings.ts'
import { openOrigin, type Origin } from './origin/open-origin.ts'
import { readOriginKeys, readOriginStatus, readOriginTree } from './origin/origin-answers.ts'
import type { OriginKeys, Pins } from './proof/origin-keys.ts'
import type { ProvenTree } from './proof/proven-tree.ts'
import { syncDirectory } from '../log/store/durable-rename.ts'
import { readMirrorMeta, writeMirrorMeta } from '../log/store/mirror-meta.ts'
import { openStoredTree } from '../log/tree/stored-tree.ts'
import type { Tree } from '../tlog/proof.ts'
import { isSame } from '../tlog/hash.ts'
import { removeCompanions } from '../log/store/store-files.ts'
import { formatCount } from '../protocol/amount.ts'
import { mirrorMetaOf } from './book/mirror-rows.ts'

/** Mirror that can be served, with the number of its events. `resumed`: an interrupted build was continued. */
export type MirrorBuilt = Readonly<{ is: 'ready'; events: number; resumed: boolean }>

/** Listeners to a build. */
export type MirrorBuildListeners = Readonly<{
  onProgress(progress: MirrorProgress): void
  signal: AbortSignal
}>

/** Events of one durable step of a build. */
const SLICE_EVENTS = 10_000
/** Most attempts after wrong content, because a download or an answer may have been damaged on its way. */
const MISTAKES_MAX = 3
const RETRY_MS = 2_000

/**
 * Builds the mirror of a log in a data directory, and resolves when a checkpoint proves it. Returns immediately when
 * the directory has a mirror of this log already. Continues an interrupted build. Nothing has the name of the store
 * before the build is proved. Throws a `StoreError` when the directory holds a log of its own, a `DaybookError` when
 * the origin cannot be read, an `UnlistedKeyError` when it does not list a given key, and the signal's reason.
 */
export async function buildMirror(
  settings: MirrorSettings,
  listeners: MirrorBuildListeners,
): Promise<MirrorBuilt | Contradicted> {
  const { dataDirectory } = settings
  listeners.signal.throwIfAborted()
  const origin = openOrigin(settings.url, settings.around, () => undefined)
  try {
    let former: FormerMirror | null = null
    if (hasStore(dataDirectory)) {
      const existing = await existingMirror(settings, origin, listeners.signal)
      if (existing.is === 'ready') return { is: 'ready', events: existing.events, resumed: false }
      former = openFormerMirror(dataDirectory)
    }
    using _former = former
    return await buildNew(settings, listeners, origin, former)
  } catch (error) {
    if (!(error instanceof ContradictionError)) throw error
    removeBuildingMirror(dataDirectory)
    return keepEvidence(dataDirectory, error, settings.now())
  }
}

async function buildNew(
  settings: MirrorSettings,
  listeners: MirrorBuildListeners,
  origin: Origin,
  former: FormerMirror | null,
): Promise<MirrorBuilt> {
  for (let mistakes = 1; ; mistakes += 1) {
    try {
      return await buildOnce(settings, listeners, origin, former)
    } catch (error) {
      if (isFull(error))
        throw new StoreError('the disk is full: make room and start again, which continues', { cause: error })
      if (isPassingFault(error))
        throw new StoreError(`${reasonOf(error)}: start again, which continues`, { cause: error })
      // The pieces used before may be wrong too, and none of them is proved.
      if (error instanceof MismatchError) removeBuildingMirror(settings.dataDirectory)
      else if (!(error instanceof WrongError) && !isGap(error)) throw error
      // Nothing is proved yet, so the operator's key may be wrong as well as the log.
      if (error instanceof UnlistedKeyError && settings.vkeys.length > 0) throw error
      if (mistakes >= MISTAKES_MAX)
        throw new ContradictionError(error.message, origin.shown(), { cause: error })
      await origin.around.sleep(RETRY_MS * mistakes, listeners.signal)
    }
  }
}

/** Whether the origin has not shown an event that its checkpoint covers. */
function isGap(error: unknown): error is DaybookError {
  return error instanceof DaybookError && error.code === 'gap'
}

async function buildOnce(
  settings: MirrorSettings,
  listeners: MirrorBuildListeners,
  origin: Origin,
  former: FormerMirror | null,
): Promise<MirrorBuilt> {
  const { dataDirectory, vkeys } = settings
  const { signal } = listeners
  const status = await readOriginStatus(origin, signal)
  const given = vkeys.length > 0 ? { vkeys, firstUse: false } : (former?.pins ?? null)
  const { keys, pins } = await readOriginKeys(origin, given, signal)
  if (keys.logId !== status.log) throw new WrongError('log/keys', 'is of another log than `/status`')
  const { chain, simulated } = status
  const identity: LogIdentity = {
    id: keys.logId,
    origin: keys.origin,
    chain,
    simulated,
    former: keys.former,
  }
  const mirror = { of: origin.url, pins }
  const building = openBuildingMirror(dataDirectory, settings.version, identity, mirror)
  try {
    const book = openMirrorBook(building.db)
    const log = await takeLog(settings, listeners, { origin, keys, pins, building, book })
    if (former !== null) former.demandPrefix(identity, (size) => book.treeAt(size))
    const events = book.head().seq
    listeners.onProgress({ stage: 'indexes', done: events, total: events })
    building.index()
    listeners.onProgress({ stage: 'proving', done: events, total: events })
    proveBuilt(building, book)
    former?.keep()
    building.finish(settings.now())
    markHighWater(dataDirectory, { log: identity.id, checkpoint: log.note, former: identity.former })
    rmSync(downloadFolder(dataDirectory), { recursive: true, force: true })
    return { is: 'ready', events, resumed: building.resumed }
  } finally {
    building.close()
  }
}

/** Folder for downloaded files in a data directory. */
export function downloadFolder(dataDirectory: string): string {
  return join(dataDirectory, 'mirroring')
}

type Built = Readonly<{
  origin: Origin
  keys: OriginKeys
  pins: Pins
  building: BuildingMirror
  book: MirrorBook
}>

/** Applies the log up to a recent checkpoint. Returns the tree with which the store ends. */
async function takeLog(
  { dataDirectory, archiveEventsMin = ARCHIVE_EVENTS_MIN }: MirrorSettings,
  { signal, onProgress }: MirrorBuildListeners,
  { origin, keys: listed, pins, building, book }: Built,
): Promise<ProvenTree> {
  for (;;) {
    signal.throwIfAborted()
    const { tree, keys } = await readOriginTree(origin, listed, pins, signal)
    if (tree.size < book.head().seq)
      throw new MismatchError('the log is shorter than what an interrupted build has read of it')
    const stage = tree.size - book.head().seq >= archiveEventsMin ? 'months' : 'events'
    const report = (): void => onProgress({ stage, done: book.head().seq, total: tree.size })
    report()
    const parts = { origin, book, keys, folder: downloadFolder(dataDirectory), archiveEventsMin, signal }
    await withServedMonths(parts, () => takeTree(parts, tree, building, report))
    const { tree: newest } = await readOriginTree(origin, keys, pins, signal)
    if (newest.size - book.head().seq < archiveEventsMin) return tree
  }
}

/** Applies the events of one signed tree to the new store, in slices, and commits the tree. */
async function takeTree(
  parts: Omit<CatchUp, 'onBatch' | 'onMonthEnd'>,
  tree: ProvenTree,
  { db }: BuildingMirror,
  report: () => void,
): Promise<void> {
  const { book, keys } = parts
  const commit = (): void => {
    book.commitUnsigned()
    book.begin()
  }
  const onBatch = (uncommitted: number): boolean => {
    report()
    if (uncommitted < SLICE_EVENTS) return false
    commit()
    return true
  }
  book.begin()
  try {
    await catchUpWith({ ...parts, onBatch, onMonthEnd: commit }, tree)
    replaceKeys(db, keys.listed)
    book.commit(tree)
  } catch (error) {
    book.rollback()
    throw error
  }
}

/** Proves the built store as a start does, including every signature of a month. */
function proveBuilt({ db }: BuildingMirror, book: MirrorBook): void {
  const fault = faultAtStart(db, null)
  const wrong = openSignedTrees(db).firstWrong()
  const reason =
    fault?.reason ??
    (wrong === null ? null : `the tree at seq ${wrong.upTo} is not the one that was signed`) ??
    (sumOfAccounts(book.fold().tally) === 0n ? null : 'the accounts do not add up to zero') ??
    (headOf(db) === book.head().seq ? null : 'it lacks events')
  if (reason !== null) throw new StoreError(`the mirror that was built is not used: ${reason}`)
}

/** Store of a mirror whose log was continued by another one after a loss. */
type FormerMirror = Disposable &
  Readonly<{
    pins: Pins
    /** Throws a `ContradictionError` unless the new log begins with the events that both have. */
    demandPrefix(identity: LogIdentity, treeAt: (size: number) => Tree): void
    /** Gives the old store a second name, under which it is kept when the new one replaces it. */
    keep(): void
  }>

/** Opens the store of a data directory as that of a former log. */
function openFormerMirror(dataDirectory: string): FormerMirror {
  const path = storePath(dataDirectory)
  const db = openForWriting(path)
  const { id } = readIdentity(db)
  const meta = readMirrorMeta(db)
  const head = headOf(db)
  const close = (): void => {
    if (db.isOpen) db.close()
  }
  return {
    pins: { vkeys: meta?.vkeys ?? [], firstUse: meta?.firstUse ?? false },
    demandPrefix({ former }, treeAt) {
      const size = Math.min(head, former.find((log) => log.id === id)?.size ?? 0)
      if (size === 0 || isSame(openStoredTree(db).at(size).root, treeAt(size).root)) return
      throw new ContradictionError(
        `the new log says that it continues the first ${formatCount(size, 'event')} of the mirrored one, and they differ`,
        { 'own.checkpoint': readHighWater(dataDirectory)?.checkpoint ?? '' },
      )
    },
    keep() {
      const busy = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy']
      if (busy !== 0) throw new StoreError('another process reads the store of the mirror: try again')
      close()
      removeCompanions(path)
      const kept = `${path}.former-${id.slice(0, 8)}`
      rmSync(kept, { force: true })
      linkSync(path, kept)
      syncDirectory(dirname(path))
    },
    [Symbol.dispose]: close,
  }
}

/** Whether the mirror of a directory can continue, or must be built anew for the log that continues its own. */
type Existing = Readonly<{ is: 'ready'; events: number }> | Readonly<{ is: 'followed' }>

/**
 * Checks the store of a directory, and writes changed settings to it. Asks the origin only with `followFormer`. Throws
 * a `StoreError` when the store is no mirror.
 */
async function existingMirror(
  settings: MirrorSettings,
  origin: Origin,
  signal: AbortSignal,
): Promise<Existing> {
  using db = openForWriting(storePath(settings.dataDirectory))
  const meta = mirrorMetaOf(db, settings.dataDirectory)
  const { vkeys } = settings
  const pins = vkeys.length > 0 ? { vkeys, firstUse: false } : meta
  // Given keys are written when they have proved something.
  if (meta.of !== origin.url) writeMirrorMeta(db, { ...meta, of: origin.url })
  if (!settings.followFormer) return { is: 'ready', events: headOf(db) }
  const { id } = readIdentity(db)
  const keys = await followedKeys(origin, pins, signal)
  if (keys === null || keys.logId === id || !keys.former.some((log) => log.id === id))
    return { is: 'ready', events: headOf(db) }
  return { is: 'followed' }
}

/** Current keys of the origin's log. Null while it cannot be reached; the mirror's content can still be served. */
async function followedKeys(origin: Origin, pins: Pins, signal: AbortSignal): Promise<OriginKeys | null> {
  try {
    return (await readOriginKeys(origin, pins, signal)).keys
  } catch (error) {
    if (error instanceof DaybookError) return null
    throw error
  }
}
