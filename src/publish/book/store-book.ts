import type { DatabaseSync } from 'node:sqlite'
import type { Appender } from '../../log/append.ts'
import type { HeldTables } from '../../log/held/held-tables.ts'
import type { MessageBody, SealCause } from '../../log/message/message.ts'
import { followsAnother } from '../../log/message/next-message.ts'
import { decodeMessage, encodeMessage } from '../../log/message/message-frame.ts'
import type { EnginePosition } from '../../log/stream/engine-position.ts'
import { newestCheckpoint, signNewest } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { assert } from '../../protocol/brand.ts'
import { reasonOf } from '../../protocol/error-reason.ts'
import type { HeldDrafts } from '../held/held-drafts.ts'
import type { Book } from '../replica/replica-book.ts'
import { APPLIED_MESSAGES_MAX, MessageFault } from '../replica/replica-book.ts'
import type { BookKeys } from '../../log/message/book-keys.ts'
import { openBookKeys } from '../../log/message/book-keys.ts'
import type { BookLog } from './book-log.ts'
import { openBookLog } from './book-log.ts'
import type { BookStream } from './book-stream.ts'
import { openBookStream } from './book-stream.ts'
import { Unfitting } from './followed-commit.ts'
import type { StandInSignature } from './stand-in-signature.ts'
import { openStandInSignature } from './stand-in-signature.ts'
import type { CommitRoom } from '../commits/commit-path.ts'
import { messageRoom } from './message-room.ts'
import type { OperatorStep, PresentLog, StepBody } from './operator-step.ts'
import { applyStep, bodyOfStep } from './operator-step.ts'

type BookSettings = Readonly<{
  /** The writing connection to the store, whose log is on an engine. */
  db: DatabaseSync
  /** Keys that sign the log: all that it lists as signing now. */
  keys: readonly SigningKey[]
  /** Key of this node (`openNodeKey`). */
  nodeKey: SigningKey
  /** Whether drafts with a transaction wait for the chain (`--finality`), as on all nodes. */
  asksChain: boolean
}>

/** The book of a store, with the log and the held drafts that a commit is built on. */
export type StoreBook = Omit<Book, 'applied'> &
  Readonly<{
    applied(): EnginePosition
    /** Reason for the end of the stream before, when the next one has not begun; null otherwise. */
    sealed(): SealCause | null
    /** Whether the log is still being moved to its stream: then nothing may be built. */
    isMoving(): boolean
    /** `begin`, `commit` and `rollback` of the book take the place of its own. */
    appender: Appender
    held: HeldDrafts
    tables: HeldTables
    /** Limits of the message that is built. */
    room: CommitRoom
    /** Builds a step of the operator in place of a commit, between `begin` and `message`. */
    build(step: OperatorStep): void
    /** The signed note of the committed log, also while a message is built. */
    checkpoint(): string
    /** Keys with which this node signs what it tells the others, and by which it knows them. */
    keys(): Pick<BookKeys, 'node' | 'verifier'>
  }>

/** Opens the book of a store. Throws a StoreError when its log is on no engine, or a signing key is missing. */
export function openBook(settings: BookSettings): StoreBook {
  const parts = openParts(settings)
  const { stream, standIn, log, keys, follow } = parts
  /** The step of the operator that is built, and the message of what is built. */
  let step: StepBody | null = null
  let built: Uint8Array | null = null
  let isUnchanged = false

  function begin(): void {
    isUnchanged = false
    log.appender.begin()
    standIn.remove()
  }

  function end(): void {
    stream.write()
    log.commit()
    step = built = null
  }

  function rollback(): void {
    step = built = null
    parts.rollback(isUnchanged)
  }

  return {
    ...passedOn(log),
    keys,
    applied: stream.position,
    beginning: stream.beginning,
    learnBeginning: stream.learnBeginning,
    sealed: stream.sealed,
    isMoving: stream.isMoving,
    kept: stream.kept,
    begin,
    rollback,
    room: messageRoom(log.gathered.bytesLeft, log.gathered.reserve),
    checkpoint: committedNote(settings.db, log),
    build: (operatorStep) => void (step = bodyOfStep(settings.db, operatorStep, parts.present())),
    message() {
      const body = bodyOf(log, step)
      isUnchanged = body === null
      built = body === null ? null : encodeMessage({ ...stream.next(), ...body }, keys().node)
      return built
    },
    commit(bytes) {
      assert(built !== null && Buffer.compare(built, bytes) === 0, 'what was built is committed')
      if (step === null) log.accept()
      else follow(step)
      stream.note(bytes, step)
      end()
    },
    apply(messages) {
      assert(messages.length <= APPLIED_MESSAGES_MAX, `${messages.length} messages are applied at once`)
      let applied = stream.position().place
      begin()
      try {
        for (const { place, bytes } of messages) {
          applied = place
          parts.apply(place, bytes)
        }
        standIn.put(keys().signing)
        end()
      } catch (error) {
        rollback()
        rethrow(applied, error)
      }
    },
  }
}

/** Parts of the log that are those of its book. */
function passedOn({ appender, held, tables }: BookLog): Pick<StoreBook, 'appender' | 'held' | 'tables'> {
  return { appender, held, tables }
}

/** Throws a fault of the disk as it is, and any other one as that of the message at a place. */
function rethrow(place: number, error: unknown): never {
  if (isOfDisk(error)) throw error
  throw error instanceof Unfitting
    ? new MessageFault(place, error.message, error.isOfOtherBranch)
    : new MessageFault(place, reasonOf(error))
}

/** Gives the signed note of the committed log. Events of an open transaction have no signature. */
function committedNote(db: DatabaseSync, log: Pick<BookLog, 'checkpoint'>): () => string {
  let note = ''
  return () => {
    if (!db.isTransaction) note = log.checkpoint() ?? newestCheckpoint(db).checkpoint
    return note
  }
}

/** Parts of a book. Their changes belong to the transaction that the book opens. */
type BookParts = Readonly<{
  stream: BookStream
  standIn: StandInSignature
  log: BookLog
  keys(): BookKeys
  /** The log as a step of the operator finds it. */
  present(): PresentLog
  /** Applies the content of an accepted message. Throws `Unfitting`. */
  follow(body: MessageBody): void
  /** Applies the message at a place, and notes it. Throws `Unfitting`. */
  apply(place: number, bytes: Uint8Array): void
  /** Undoes the transaction, in which nothing may have changed. */
  rollback(isUnchanged: boolean): void
}>

function openParts({ db, keys: own, nodeKey, asksChain }: BookSettings): BookParts {
  const stream = openBookStream(db)
  const standIn = openStandInSignature(db)
  let keys = openBookKeys(db, own, nodeKey)
  const log = openBookLog(db, () => keys.signer, asksChain)
  const present = (): PresentLog => ({
    head: log.head(),
    root: log.root(),
    stream: stream.position().stream,
    sealed: stream.sealed(),
  })

  function follow(body: MessageBody): void {
    if (body.is === 'commit') return log.follow(body)
    applyStep(db, body, present())
    if (body.is !== 'keys') return
    keys = openBookKeys(db, own, nodeKey)
    signNewest(db, keys.signing)
    log.resign()
  }

  return {
    stream,
    standIn,
    log,
    keys: () => keys,
    present,
    follow,
    apply(place, bytes) {
      const decoded = decodeMessage(bytes)
      if (!decoded.ok) throw new Unfitting(decoded.reason)
      const { message } = decoded.signed
      const foreign = keys.verifier.refusalOf(decoded.signed)
      const refusal = stream.refusalOf(message, place) ?? foreign
      if (refusal !== null)
        throw new Unfitting(refusal, foreign === null && followsAnother(message, stream.next()))
      follow(message)
      stream.note(bytes, message)
    },
    rollback(isUnchanged) {
      if (isUnchanged) log.leave()
      else {
        log.rollback()
        stream.rollback()
        keys = openBookKeys(db, own, nodeKey)
      }
      standIn.reload()
    },
  }
}

/** Content of the message of what was built; null when nothing changed. */
function bodyOf({ gathered, head, root }: BookLog, step: StepBody | null): MessageBody | null {
  const commit = gathered.commit()
  assert(commit === null || step === null, 'a step of the operator has a message of its own')
  if (commit === null) return step
  return { is: 'commit', first: head() - commit.lines.length + 1, root: root(), ...commit, moved: null }
}

const SQLITE_CONSTRAINT = 19

/** Whether an error is of SQLite and its disk. A row that contradicts another is the fault of the message. */
function isOfDisk(error: unknown): boolean {
  if (!(error instanceof Error && 'errcode' in error)) return false
  return (Number(error.errcode) & 0xff) !== SQLITE_CONSTRAINT
}
