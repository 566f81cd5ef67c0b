import type { EngineMessage, LogEngine } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { sha256 } from '../../log/tree/signer.ts'
import type { Book, BookEnd } from './replica-book.ts'
import { APPLIED_MESSAGES_MAX, MessageFault } from './replica-book.ts'
import type { ReplicaClock } from './replica-clock.ts'

/** Change of the books. What was read from them before is outdated after `applied` and `undone`. */
export type BookChange = 'committed' | 'applied' | 'undone'

/** Brings the books to the end of the log. */
export type BookFollower = Readonly<{
  end(): BookEnd
  /** SHA-256 of the first message of the stream; null when it is not known, or when there is none. */
  beginning(): Uint8Array | null
  /** Digest of one of the newest messages in the books; undefined for an older place. */
  digestAt(place: number): Uint8Array | undefined
  /** Messages after the end of the books: what a replica of the engine shows now. Throws an `EngineError`. */
  next(): Promise<readonly EngineMessage[]>
  /** Applies messages. Throws a `MessageFault` for the first that does not continue the books, after those before it. */
  apply(messages: readonly EngineMessage[]): void
  /** Commits what was built, after the engine accepted it. Throws as the disk fails. */
  commit(bytes: Uint8Array): void
  /** Tells that the commit succeeded. */
  committed(): void
  rollback(): void
  /** Whether the books reach the place within so many milliseconds. */
  reached(place: number, ms: number): Promise<boolean>
}>

/** Bytes of one question for messages. */
const READ_BYTES_MAX = 8 * 1024 * 1024
/** Digests of newest messages that are kept in memory. */
const DIGESTS_MAX = 1024

type FollowerParts = Readonly<{
  book: Book
  log: LogEngine
  clock: ReplicaClock
  onBooks(change: BookChange): void
}>

export function openBookFollower({ book, log, clock, onBooks }: FollowerParts): BookFollower {
  const digests = new Map<number, Uint8Array>()
  const waiting = new Set<Readonly<{ place: number; resolve: (reached: boolean) => void }>>()

  function keepDigest(place: number, digest: Uint8Array): void {
    digests.set(place, digest)
    digests.delete(place - DIGESTS_MAX)
  }

  function note(change: BookChange): void {
    const { place, digest } = book.applied()
    keepDigest(place, digest)
    onBooks(change)
    for (const wait of waiting) if (wait.place <= place) wait.resolve(true)
  }

  function applyAll(messages: readonly EngineMessage[]): void {
    for (let index = 0; index < messages.length; index += APPLIED_MESSAGES_MAX) {
      const slice = messages.slice(index, index + APPLIED_MESSAGES_MAX)
      book.apply(slice)
      for (const { place, bytes } of slice) keepDigest(place, sha256(bytes))
      note('applied')
    }
  }

  const { place: newest, digest: newestDigest } = book.applied()
  // After a seal the kept messages are those of the sealed stream, and places mean those of the next one.
  const kept = newest === 0 ? [] : book.kept(Math.max(1, newest - DIGESTS_MAX + 1))
  for (const { place, bytes } of kept) keepDigest(place, sha256(bytes))
  keepDigest(newest, newestDigest)
  return {
    end: book.applied,
    beginning: book.beginning,
    digestAt: (place) => digests.get(place),
    async next() {
      const from = book.applied().place + 1
      const messages = await log.read(from, READ_BYTES_MAX)
      const isInOrder = messages.every(({ place }, index) => place === from + index)
      if (!isInOrder) throw new EngineError(`the engine gave messages out of order after place ${from - 1}`)
      return messages
    },
    apply(messages) {
      try {
        applyAll(messages)
      } catch (error) {
        if (error instanceof MessageFault) {
          const { place } = book.applied()
          applyAll(messages.filter((message) => message.place > place && message.place < error.place))
        }
        throw error
      }
    },
    commit: book.commit,
    committed: () => note('committed'),
    rollback() {
      book.rollback()
      onBooks('undone')
    },
    async reached(place, ms) {
      if (book.applied().place >= place) return true
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const wait = { place, resolve }
      waiting.add(wait)
      const isReached = await clock.within(ms, promise, () => false)
      waiting.delete(wait)
      return isReached
    },
  }
}
