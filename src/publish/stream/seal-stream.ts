import type { EngineConnection } from '../../engine/log-engine.ts'
import { MESSAGE_BYTES_MAX } from '../../engine/log-engine.ts'
import type { SealCause } from '../../log/message/message.ts'
import { StoreError } from '../../log/store/store.ts'
import type { StoreBook } from '../book/store-book.ts'
import { APPLIED_MESSAGES_MAX } from '../replica/replica-book.ts'
import { readMessages } from './read-messages.ts'
import { settleAppend } from './settle-append.ts'

/**
 * Follows the stream of a log to its end and seals it, unless another node does so first. The newest message of the books
 * must be in the engine.
 */
export async function sealStream(
  book: StoreBook,
  connection: EngineConnection,
  why: SealCause,
  signal: AbortSignal,
): Promise<void> {
  const { stream } = book.applied()
  for (;;) {
    await followToEnd(book, connection, signal)
    if (book.applied().stream !== stream) return
    if (book.applied().place === 0) throw new StoreError(UNBEGUN)
    if (book.isMoving()) throw new StoreError(UNMOVED)
    book.begin()
    book.build({ is: 'seal', why })
    const seal = book.message()
    book.rollback()
    if (seal === null) throw new Error('a seal is a message')
    await settleAppend(connection, book.applied().place + 1, seal, signal)
  }
}

/** Applies all messages that the engine has at a moment after the call, up to a seal. */
export async function followToEnd(
  book: StoreBook,
  connection: EngineConnection,
  signal: AbortSignal,
): Promise<void> {
  const { stream } = book.applied()
  const last = await connection.log.last()
  while (book.applied().stream === stream && book.applied().place < last) {
    const from = book.applied().place + 1
    const messages = await readMessages(connection, from, MESSAGE_BYTES_MAX, signal)
    book.apply(messages.slice(0, APPLIED_MESSAGES_MAX))
  }
}

const UNBEGUN =
  'a roll was interrupted, and the next stream has not begun: run daybook cluster roll again, then this command'

const UNMOVED =
  'the log is still being moved to this engine: run daybook cluster move again on the directory that it comes from'

/** Throws a StoreError when the engine has other settings than a writer requires. */
export async function refuseWrongEngine(connection: EngineConnection): Promise<void> {
  const [complaint] = await connection.inspect()
  if (complaint !== undefined) throw new StoreError(`the engine is not set up as it must be: ${complaint}`)
}
