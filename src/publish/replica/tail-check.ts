import type { EngineMessage, LogEngine } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { sha256 } from '../../log/tree/signer.ts'
import type { Book } from './replica-book.ts'
import { ReplicaStopped } from './replica-stop.ts'

/** Messages of both branches of a fork, in order, from the first place where they differ: of this node, and of the engine. */
export type ForkBranches = Readonly<Record<'ours' | 'engine', readonly EngineMessage[]>>

/** Keeps the branches of a fork. */
export type ForkEvidence = Readonly<{
  /** Makes both branches durable. Keeps no branch twice. May throw. */
  keep(branches: ForkBranches): void
}>

/** Holds the newest messages of this node against the engine. */
export type TailCheck = Readonly<{
  /**
   * Compares the newest message in the books with the engine's. When the engine has lost its tail, offers the missing
   * messages again: same bytes, same places. Returns how many; null when the stream is empty and may not be refilled.
   * Throws a `ReplicaStopped` for a fork and for another stream of the log, and an `EngineError` when the engine does not
   * answer now.
   */
  align(): Promise<number | null>
  /**
   * Keeps both branches as evidence, from the first place where they differ, or from the newest message of this node if
   * they do not differ. Returns how many messages that is.
   */
  keepBranches(): Promise<number>
}>

/** Bytes of one question for messages of the other branch. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024
/** Bytes of the messages of one branch that are kept as evidence. */
const EVIDENCE_BYTES_MAX: number = 64 * 1024 * 1024
/** Attempts to offer a lost message again before the replica looks around. */
const ATTEMPTS_MAX = 3

type TailParts = Readonly<{
  book: Book
  log: LogEngine
  evidence: ForkEvidence
  evidenceBytesMax?: number
  /** Whether an empty stream is refilled; never if absent. It may be one of another engine, and the others use the right one. */
  mayRefill?: () => boolean
}>

/** Refusal of a command that finds an empty stream where the log of its directory should be. */
export const EMPTY_STREAM =
  'the stream on the engine is empty: give the address of the engine that has this log, or start all writers, which put it back'

const OTHER_STREAM =
  'the engine has another stream of this log: the log was taken off its engine and moved again, so start this node with an empty directory, also without `high-water`'

export function openTailCheck(parts: TailParts): TailCheck {
  const { book, log, evidence, evidenceBytesMax = EVIDENCE_BYTES_MAX, mayRefill = () => false } = parts

  async function messageAt(place: number): Promise<Uint8Array> {
    const [message] = await log.read(place, 1)
    if (message === undefined)
      throw new EngineError(`the engine does not show the message at place ${place} yet`)
    return message.bytes
  }

  /** Offers a message again until the engine shows it. Another message there is a fork. */
  async function offerAgain({ place, bytes }: EngineMessage): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      if ((await log.append(place, bytes)) === 'appended') return
      const [owner] = await log.read(place, 1)
      if (owner !== undefined) return await assertSame(place, sha256(owner.bytes), sha256(bytes))
    }
    throw new EngineError(`the engine does not take the message at place ${place} again`)
  }

  async function assertSame(place: number, theirs: Uint8Array, ours: Uint8Array): Promise<void> {
    if (areSame(ours, theirs)) return
    refuseOtherStream(book, await messageAt(1))
    const reason = `the engine has another message at place ${place} than this node has served`
    throw new ReplicaStopped({ is: 'fork', place, reason })
  }

  async function offerTail(last: number): Promise<number> {
    if (last > 0) refuseOtherStream(book, await messageAt(1))
    const missing = book.kept(last + 1)
    const [first] = missing
    if (first?.place !== last + 1) {
      const reason = `the engine ends at place ${last}, and this node keeps only the messages from ${first?.place ?? book.applied().place + 1} on`
      throw new ReplicaStopped({ is: 'lost', place: last + 1, reason })
    }
    const [end] = last === 0 ? [] : book.kept(last)
    if (end?.place === last) await assertSame(last, sha256(await messageAt(last)), sha256(end.bytes))
    for (const message of missing) await offerAgain(message)
    return missing.length
  }

  return {
    async align() {
      const { place, digest } = book.applied()
      if (place === 0) return 0
      const last = await log.last()
      if (last === 0 && !mayRefill()) return null
      if (last < place) return await offerTail(last)
      await assertSame(place, sha256(await messageAt(place)), digest)
      // A store of an older Daybook does not know it.
      if (book.beginning() === null) book.learnBeginning(sha256(await messageAt(1)))
      return 0
    },
    async keepBranches() {
      // After a seal the kept messages are those of the sealed stream, and the engine's are of the next one.
      const isSealed = book.applied().place === 0
      const kept = isSealed ? [] : book.kept(1)
      const { messages: engine, end } = await readBranch(log, kept, evidenceBytesMax)
      const newest = kept.at(-1)?.place ?? 0
      const since = Math.min(engine[0]?.place ?? end + 1, newest)
      const branch = isSealed ? book.kept(1).slice(-1) : kept.filter(({ place }) => place >= since)
      const ours = firstOf(branch, evidenceBytesMax)
      evidence.keep({ ours, engine })
      return ours.length + engine.length
    },
  }
}

const areSame = (bytes: Uint8Array, others: Uint8Array | undefined): boolean =>
  others !== undefined && Buffer.compare(bytes, others) === 0

/** Throws when the stream of the engine has begun with another message than that of these books. */
function refuseOtherStream(book: Book, first: Uint8Array): void {
  const ours = book.beginning()
  if (ours === null || areSame(ours, sha256(first))) return
  throw new ReplicaStopped({ is: 'fault', place: 1, reason: OTHER_STREAM })
}

/** The first messages that have so many bytes together. */
function firstOf(messages: readonly EngineMessage[], bytesMax: number): readonly EngineMessage[] {
  let size = 0
  const end = messages.findIndex(({ bytes }) => {
    size += bytes.length
    return size > bytesMax
  })
  return end < 0 ? messages : messages.slice(0, end)
}

/**
 * Reads the branch of the engine from the first message that differs from the kept ones, or from the newest kept one: so
 * many bytes at most. `end` is the newest place of the engine.
 */
async function readBranch(
  log: LogEngine,
  kept: readonly EngineMessage[],
  bytesMax: number,
): Promise<Readonly<{ messages: readonly EngineMessage[]; end: number }>> {
  const from = kept[0]?.place ?? 1
  const end = await log.last()
  const messages: EngineMessage[] = []
  let size = 0
  for (let next = from; next <= end && size <= bytesMax;) {
    const page = await log.read(next, PAGE_BYTES_MAX)
    if (page.length === 0) throw new EngineError('the engine does not show its newest messages yet')
    for (const message of page) {
      const index = message.place - from
      const isShared = index < kept.length - 1 && areSame(message.bytes, kept[index]?.bytes)
      if (messages.length === 0 && isShared) continue
      messages.push(message)
      size += message.bytes.length
    }
    next += page.length
  }
  return { messages: firstOf(messages, bytesMax), end }
}
