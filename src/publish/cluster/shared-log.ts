import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { EngineConnection } from '../../engine/log-engine.ts'
import { MESSAGE_NEEDS, MESSAGE_VERSION } from '../../log/message/message.ts'
import { openNodeKey } from '../../log/message/node-key.ts'
import type { HighWater } from '../../log/store/high-water.ts'
import { servedMessage } from '../../log/stream/engine-position.ts'
import { openForWriting, readIdentity, storePath } from '../../log/store/store.ts'
import { openServedTree, treeInNote, vkeysOf } from '../../log/tree/served-tree.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import type { Head } from '../../project/fold/books.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { CommitFailureSettings } from '../commits/commit-failure.ts'
import { lacksRoom } from '../commits/commit-failure.ts'
import type { CommitPath } from '../commits/commit-path.ts'
import type { CommitQueue } from '../commits/commit-queue.ts'
import type { BookChange } from '../replica/book-follower.ts'
import type { OwnMark } from '../replica/marking.ts'
import { openKnownWriters } from '../marks/known-writers.ts'
import type { ReplicaNotice } from '../replica/replica-notice.ts'
import type { StopCause } from '../replica/replica-stop.ts'
import type { Replica, ReplicaState } from '../replica/replica.ts'
import type { StoreBook } from '../book/store-book.ts'
import { openBook } from '../book/store-book.ts'
import { changeLogKeys } from './change-log-keys.ts'
import { ENDED } from '../stream/ended-stream.ts'
import { openEvidence } from '../stream/evidence-folder.ts'
import { joinLog } from './join-log.ts'
import type { LogStoreSettings } from './log-store-settings.ts'
import { openEngine } from './open-engine.ts'
import { raiseLogVersion } from './raise-version.ts'
import { openPrimaryFile } from './primary-file.ts'
import { openReplicatedPath } from './replicated-path.ts'
import { rollStream } from './roll-stream.ts'
import type { StreamSession } from './stream-session.ts'
import { openStreamSession } from './stream-session.ts'

/** Settings and surroundings of a log that an engine carries. */
type SharedSettings = CommitFailureSettings &
  Readonly<{
    dataDirectory: string
    logStore: LogStoreSettings
    keys: readonly SigningKey[]
    /** Whether drafts with a transaction wait for the chain, as on all nodes. */
    asksChain: boolean
    /** Settings that must be the same on all nodes, as text. */
    rules: string
    /** Version of this program, and a random name of its run. */
    program: string
    run: string
    nowMs(): number
    monotonicMs(): number
    random(): number
    sleep(ms: number, signal: AbortSignal): Promise<unknown>
    /** Aborted when the node stops. */
    signal: AbortSignal
    /** Whether this node takes drafts, as far as its disk, its clock and its stop are concerned. */
    accepts(): boolean
    onNotice(notice: ReplicaNotice): void
    /** Called after each attempt to reach the engine that failed. */
    onRefused(reason: string): void
  }>

/** Listeners to the books, which the messages of all nodes change. */
type SharedListeners = Readonly<{
  queue: Pick<CommitQueue, 'changed' | 'lead'>
  /** Called after each change, with the number of events that came from other nodes. */
  onHead(head: Head, followed: number): void
  /** Called when the engine has another log than this node has served. */
  onOtherLog(reason: string): void
}>

/** The log of a node, as an engine carries it. */
export type SharedLog = AsyncDisposable &
  Readonly<{
    db: DatabaseSync
    book: StoreBook
    path: CommitPath
    /** Begins to follow the log. */
    start(listeners: SharedListeners): void
    /** Head of the whole log at a moment after the call; null when it cannot be known. */
    barrier(): Promise<Seq | null>
    leads(): boolean
    /** Null before the start. The others are not heard while the engine lacks events that this node has served. */
    state(): ReplicaState | null
    /** Ends the stream, and begins the next one. */
    roll(): ReturnType<typeof rollStream>
    /** Makes the keys with these vkeys the ones that sign the log, on all writers. */
    changeKeys(vkeys: readonly string[]): ReturnType<typeof changeLogKeys>
    /** Lets messages have the newest version that this program reads. */
    raiseVersion(): ReturnType<typeof raiseLogVersion>
    /** The newest signed tree, unless the node has served a larger one. */
    mark(): HighWater | null
  }>

/** File in the data directory with the names of the other writers. */
const WRITERS_FILE = 'writers'
const NEWEST_VERSION = { frames: MESSAGE_VERSION, needs: MESSAGE_NEEDS }
/** Time between two looks at whether this node leads. */
const LEAD_LOOK_MS = 250

/** Opens the log of a data directory, which joins it when it is empty. Throws a `StoreError` that says what is wrong. */
export async function openSharedLog(settings: SharedSettings): Promise<SharedLog> {
  const { dataDirectory, keys, asksChain, signal, sleep } = settings
  const connect = engineOf(settings)
  const { owed, stopped } = await joinLog({
    dataDirectory,
    keys,
    connect,
    signal,
    async wait(reason) {
      settings.onRefused(reason)
      await sleep(LEAD_LOOK_MS, signal)
    },
  })
  const db = openForWriting(storePath(dataDirectory))
  const book = openBook({ db, keys, nodeKey: openNodeKey(dataDirectory), asksChain })
  const identity = readIdentity(db)
  const served = openServedTree(db, owed)
  const isWhole = (): boolean => served.isReached() && !book.isMoving()
  const accepts = (): boolean => settings.accepts() && isWhole()
  const sessions = openSessions(
    { ...settings, accepts, hasServed: served.isReached, stopped },
    connect,
    book,
    identity,
  )
  const { path } = sessions
  const state = (): ReplicaState | null => stateOf(sessions.replica(), isWhole())
  const step = { ...settings, db, book, path, state }
  let looking: NodeJS.Timeout | undefined
  let leads = false
  let seq = book.appender.head().seq

  return {
    db,
    book,
    path,
    start({ queue, onHead, onOtherLog }) {
      sessions.start((change) => {
        const head = book.appender.head()
        queue.changed(change)
        if (change === 'undone') return
        if (book.sealed() === 'adopt') return onOtherLog(ENDED.adopt)
        if (served.differs(head.seq, book.applied()))
          return onOtherLog('the engine has another log than this node has served')
        const followed = change === 'applied' ? head.seq - seq : 0
        seq = head.seq
        onHead(head, followed)
      })
      looking = setInterval(() => {
        const now = sessions.replica()?.leads() ?? false
        if (now && !leads) queue.lead()
        leads = now
      }, LEAD_LOOK_MS)
    },
    async barrier() {
      const replica = sessions.replica()
      return replica !== null && (await replica.barrier()) ? seq : null
    },
    leads: () => leads,
    state,
    roll: () => rollStream({ ...step, connect }),
    changeKeys: (vkeys) => changeLogKeys(step, vkeys),
    raiseVersion: () => raiseLogVersion({ ...step, newest: NEWEST_VERSION }),
    mark: () => (served.isReached() ? markOf(book, identity) : null),
    async [Symbol.asyncDispose]() {
      clearInterval(looking)
      await sessions[Symbol.asyncDispose]()
    },
  }
}

function engineOf(settings: SharedSettings): (stream: number) => Promise<EngineConnection> {
  const memory = openPrimaryFile(settings.dataDirectory)
  return (stream) => openEngine(settings.logStore, stream, { ...settings, memory })
}

function markOf(
  book: StoreBook,
  { id, former }: Pick<HighWater, 'former'> & Readonly<{ id: string }>,
): HighWater {
  return { log: id, checkpoint: book.checkpoint(), former, message: servedMessage(book.applied()) }
}

/** State of a replica, which is starting until the books have all that they must have. */
function stateOf(replica: Replica | null, isReached: boolean): ReplicaState | null {
  if (replica === null) return null
  const state = replica.state()
  return { ...state, isHeard: state.isHeard && isReached }
}

/** The replica of the present stream. After a seal it is the one of the next stream. */
type Sessions = AsyncDisposable &
  Readonly<{
    path: CommitPath
    start(onBooks: (change: BookChange) => void): void
    replica(): Replica | null
  }>

function openSessions(
  settings: SharedSettings & Readonly<{ hasServed(): boolean; stopped: StopCause | null }>,
  connect: (stream: number) => Promise<EngineConnection>,
  book: StoreBook,
  identity: Readonly<{ id: string; origin: string }>,
): Sessions {
  const { dataDirectory, isDiskFull, onFull } = settings
  let session: StreamSession | null = null
  let ending: Promise<void> = Promise.resolve()
  let isClosed = false
  const replica = (): Replica | null => (isClosed ? null : (session?.replica ?? null))
  const replicated = openReplicatedPath({ ...settings, book, replica })
  const known = openKnownWriters(join(dataDirectory, WRITERS_FILE))
  const own = openOwnMark(settings, book, identity)
  const mayRetry = (error: unknown): boolean => {
    const passes = lacksRoom(error, 0, isDiskFull)
    if (passes) onFull()
    return passes
  }

  function open(onBooks: (change: BookChange) => void): void {
    const opened = openStreamSession({
      ...settings,
      book: replicated.book,
      present: () => book.applied().stream,
      connect,
      own,
      keys: book.keys,
      known,
      evidence: openEvidence(dataDirectory, book.applied().stream),
      stopped: endOf(book) ?? settings.stopped,
      mayRetry,
      onBooks(change) {
        onBooks(change)
        if (session !== opened || book.applied().stream === opened.stream || isClosed) return
        session = null
        ending = Promise.resolve(opened[Symbol.asyncDispose]()).then(() => {
          if (!isClosed) open(onBooks)
        })
      },
    })
    session = opened
  }

  return {
    path: replicated.path,
    start: open,
    replica,
    async [Symbol.asyncDispose]() {
      isClosed = true
      await ending
      await session?.[Symbol.asyncDispose]()
    },
  }
}

/** Reason why this node takes no drafts after a seal; null when the log goes on. */
function endOf(book: StoreBook): StopCause | null {
  const why = book.sealed()
  return why === null || why === 'roll' ? null : { is: 'ended', place: 0, reason: ENDED[why] }
}

/** Mark by which this node tells the others about itself. */
function openOwnMark(
  settings: SharedSettings,
  book: StoreBook,
  identity: Readonly<{ id: string; origin: string }>,
): () => OwnMark {
  const { logStore, run, program, keys, rules } = settings
  const { id: logId, origin } = identity
  const vkeys = vkeysOf(origin, keys)
  return () => {
    // The newest signed tree. A message that is building is in no mark.
    const { size: seq, root } = treeInNote(book.checkpoint())
    const { stream } = book.applied()
    return {
      node: logStore.nodeName,
      run,
      logId,
      stream,
      seq,
      root,
      program,
      frames: [MESSAGE_VERSION],
      keys: vkeys,
      rules,
    }
  }
}
