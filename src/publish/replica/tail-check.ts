import type { EngineMessage, LogEngine } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { sha256 } from '../../log/tree/signer.ts'
import type { Book } from './replica-book.ts'
import { ReplicaStopped } from './replica-stop.ts'

/** Keeps messages of branches that exclude each other. */
export type ForkEvidence = Readonly<{
  /** Makes the bytes durable under this name. Bytes that are kept already are not kept again. May throw. */
  keep(name: string, bytes: Uint8Array): void
}>

/** Holds the newest messages of this node against the engine. */
export type TailCheck = Readonly<{
  /**
   * Compares the newest message in the books with the engine's. When the engine has lost its tail, offers the missing
   * messages again: same bytes, same places. Returns how many. Throws a `ReplicaStopped` for a fork, and an
   * `EngineError` when the engine does not answer now.
   */
  align(): Promise<number>
  /** Keeps both branches as evidence, from the first place where they differ. Returns how many messages that is. */
  keepBranches(): Promise<number>
}>

/** Bytes of one question for messages of the other branch. */
const PAGE_BYTES_MAX = 8 * 1024 * 1024
/** Attempts to offer a lost message again before the replica looks around. */
const ATTEMPTS_MAX = 3

type TailParts = Readonly<{ book: Book; log: LogEngine; evidence: ForkEvidence }>

export function openTailCheck({ book, log, evidence }: TailParts): TailCheck {
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
      if (owner !== undefined) return assertSame(place, sha256(owner.bytes), sha256(bytes))
    }
    throw new EngineError(`the engine does not take the message at place ${place} again`)
  }

  async function offerTail(last: number): Promise<number> {
    const missing = book.kept(last + 1)
    const [first] = missing
    if (first?.place !== last + 1) {
      const reason = `the engine ends at place ${last}, and this node keeps only the messages from ${first?.place ?? book.applied().place + 1} on`
      throw new ReplicaStopped({ is: 'lost', place: last + 1, reason })
    }
    const [end] = last === 0 ? [] : book.kept(last)
    if (end?.place === last) assertSame(last, sha256(await messageAt(last)), sha256(end.bytes))
    for (const message of missing) await offerAgain(message)
    return missing.length
  }

  return {
    async align() {
      const { place, digest } = book.applied()
      if (place === 0) return 0
      const last = await log.last()
      if (last < place) return await offerTail(last)
      assertSame(place, sha256(await messageAt(place)), digest)
      return 0
    },
    async keepBranches() {
      const ours = book.kept(1)
      const from = ours[0]?.place ?? 1
      const theirs = await readToEnd(log, from)
      const fork = ours.findIndex(({ bytes }, index) => !areSame(bytes, theirs[index]?.bytes))
      const since = fork < 0 ? Math.max(0, ours.length - 1) : fork
      for (const [branch, messages] of Object.entries({ ours, engine: theirs })) {
        for (const { place, bytes } of messages.slice(since)) {
          const digest = Buffer.from(sha256(bytes)).toString('hex').slice(0, 16)
          evidence.keep(`${String(place).padStart(12, '0')}-${branch}-${digest}.message`, bytes)
        }
      }
      return ours.length + theirs.length - 2 * since
    },
  }
}

const areSame = (bytes: Uint8Array, others: Uint8Array | undefined): boolean =>
  others !== undefined && Buffer.compare(bytes, others) === 0

function assertSame(place: number, theirs: Uint8Array, ours: Uint8Array): void {
  if (areSame(ours, theirs)) return
  const reason = `the engine has another message at place ${place} than this node has served`
  throw new ReplicaStopped({ is: 'fork', place, reason })
}

async function readToEnd(log: LogEngine, from: number): Promise<readonly EngineMessage[]> {
  const last = await log.last()
  const found: EngineMessage[] = []
  while (from + found.length <= last) {
    const page = await log.read(from + found.length, PAGE_BYTES_MAX)
    if (page.length === 0) throw new EngineError('the engine does not show its newest messages yet')
    found.push(...page)
  }
  return found
}
