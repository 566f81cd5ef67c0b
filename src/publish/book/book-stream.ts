import type { DatabaseSync } from 'node:sqlite'
import type { EngineMessage } from '../../engine/log-engine.ts'
import { openKeptMessages } from '../../log/stream/kept-messages.ts'
import type { Message, MessageBody, MessagePlace, SealCause } from '../../log/message/message.ts'
import { MESSAGE_VERSION } from '../../log/message/message.ts'
import { digestOfMessage } from '../../log/message/message-frame.ts'
import { refusalOfPlace } from '../../log/message/next-message.ts'
import { isMovePart, readMoving } from '../../log/message/read-moving.ts'
import { readSeal } from '../../log/message/read-seal.ts'
import type { EnginePosition } from '../../log/stream/engine-position.ts'
import { readLogVersion } from '../../log/stream/log-version.ts'
import { readPosition, writePosition } from '../../log/stream/engine-position.ts'
import { readBeginning, writeBeginning } from '../../log/stream/stream-beginning.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'

/** The stream of a store: its newest message, and the kept ones. Changes belong to the caller's transaction. */
export type BookStream = Readonly<{
  position(): EnginePosition
  /** SHA-256 of the first message of the stream; null when it is not known, or when there is none. */
  beginning(): Uint8Array | null
  /** Writes that digest, when it was not known. */
  learnBeginning(digest: Uint8Array): void
  kept(from: number): readonly EngineMessage[]
  /** Reason for the end of the stream before, when the next one has not begun; null otherwise. */
  sealed(): SealCause | null
  /** Whether the log is still being moved to the stream. */
  isMoving(): boolean
  /** The place of the next message. */
  next(): MessagePlace
  /** Reason why the engine's message at a place is not the next one of this stream; null when it is. */
  refusalOf(message: Message, place: number): string | null
  /** Notes the next message. Its body is null for a commit of this node. */
  note(bytes: Uint8Array, body: MessageBody | null): void
  /** Writes the position. */
  write(): void
  /** Undoes what was noted since the last commit. */
  rollback(): void
}>

/** Opens the stream of a store. Throws a StoreError when its log is on no engine. */
export function openBookStream(db: DatabaseSync): BookStream {
  const { id: logId } = readIdentity(db)
  refuseNewerMessages(db)
  const kept = openKeptMessages(db)
  let position = positionOf(db)
  let sealed = readSeal(db)?.why ?? null
  let isMoving = readMoving(db)
  let beginning: Uint8Array | null = readBeginning(db)
  let isChanged = false
  let hasOtherBeginning = false

  function begin(digest: Uint8Array | null): void {
    beginning = digest
    hasOtherBeginning = true
  }

  const next = (): MessagePlace => {
    const { stream, place, digest: prev } = position
    return { v: MESSAGE_VERSION, logId, stream, place: place + 1, prev }
  }

  return {
    position: () => position,
    beginning: () => beginning,
    learnBeginning(digest) {
      writeBeginning(db, digest)
      beginning = digest
    },
    kept: kept.from,
    sealed: () => sealed,
    isMoving: () => isMoving,
    next,
    refusalOf: (message, place) => refusalOfPlace(message, place, next()),
    note(bytes, body) {
      const { stream, place } = next()
      const digest = digestOfMessage(bytes)
      if (place === 1) kept.clear()
      if (place === 1) begin(digest)
      kept.add({ place, bytes })
      sealed = body?.is === 'seal' ? body.why : null
      if (sealed !== null) begin(null)
      isMoving = body !== null && isMovePart(body)
      position = sealed === null ? { stream, place, digest } : { stream: stream + 1, place: 0, digest }
      isChanged = true
    },
    write() {
      writePosition(db, position)
      if (hasOtherBeginning) writeBeginning(db, beginning)
      isChanged = hasOtherBeginning = false
    },
    rollback() {
      if (isChanged) kept.reload()
      position = positionOf(db)
      if (isChanged) sealed = readSeal(db)?.why ?? null
      if (hasOtherBeginning) beginning = readBeginning(db)
      if (isChanged) isMoving = readMoving(db)
      isChanged = hasOtherBeginning = false
    },
  }
}

/** Refuses a store whose node was a newer Daybook, because that one may have raised the version of the messages. */
function refuseNewerMessages(db: DatabaseSync): void {
  const { frames, needs } = readLogVersion(db)
  if (frames > MESSAGE_VERSION)
    throw new StoreError(`the messages of this log have version ${frames}: install Daybook ${needs} or newer`)
}

function positionOf(db: DatabaseSync): EnginePosition {
  const position = readPosition(db)
  if (position === null)
    throw new StoreError('the log of this store is on no engine: move it with daybook cluster move')
  return position
}
