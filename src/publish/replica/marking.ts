import type { EngineConnection } from '../../engine/log-engine.ts'
import type { BookFollower } from './book-follower.ts'
import type { OtherWriters } from './other-writers.ts'
import type { ReplicaClock } from './replica-clock.ts'
import type { StopCause } from './replica-stop.ts'
import type { WriterMark } from './writer-mark.ts'
import { formatMark, parseMark } from './writer-mark.ts'

/** The part of a mark that does not follow from the books of the replica. */
export type OwnMark = Pick<
  WriterMark,
  'node' | 'run' | 'logId' | 'stream' | 'seq' | 'root' | 'program' | 'frames' | 'keys'
>

/** Tells the mark of this writer, and hears those of the others. */
export type Marking = Readonly<{
  tell(why?: Partial<Pick<WriterMark, 'asks' | 'contends'>>): void
  run(closing: AbortSignal): Promise<void>
}>

/** Time between two marks, and between two marks of a node that leads, in milliseconds. */
const MARK_MS = 10_000
const LEADER_MARK_MS = 1000
/** Time between two looks at whether a mark is due. */
const TICK_MS = 500
/** Shortest time between two answers to writers that ask. */
const ANSWER_MS = 100

type MarkingParts = Readonly<{
  connection: EngineConnection
  clock: ReplicaClock
  follower: BookFollower
  writers: OtherWriters
  /** Number of the stream that this replica writes. */
  stream: number
  own(): OwnMark
  leads(): WriterMark['leads']
  stopped(): string | null
  isClosed(): boolean
  onHeard(): void
  /** Called when another writer has another message at a place of these books. */
  onFork(cause: StopCause): void
}>

export function openMarking(parts: MarkingParts): Marking {
  const { connection, clock, follower, writers } = parts
  let toldMs = Number.NEGATIVE_INFINITY
  let answeredMs = Number.NEGATIVE_INFINITY
  /** Whether an answer waits for the next tick. */
  let isAsked = false

  function tell(why: Partial<Pick<WriterMark, 'asks' | 'contends'>> = {}): void {
    const { place, digest } = follower.end()
    const state = { leads: parts.leads(), stopped: parts.stopped(), asks: false, contends: false }
    connection.tell(formatMark({ v: 1, ...parts.own(), place, digest: base64url(digest), ...state, ...why }))
    toldMs = clock.now()
  }

  /** A fork is certain when another writer has another message at a place of these books, or knows of a fork itself. */
  function compare({ node, stream, place, digest, stopped }: WriterMark): void {
    if (stream !== parts.stream) return
    const ours = place === 0 ? undefined : follower.digestAt(place)
    const differs = ours !== undefined && base64url(ours) !== digest
    if (!differs && stopped !== 'fork') return
    const reason = differs
      ? `the writer ${node} has another message at place ${place} than this node has served`
      : `the writer ${node} has stopped because the log has forked`
    parts.onFork({ is: 'fork', place, reason })
  }

  function answer(): void {
    isAsked = clock.now() - answeredMs < ANSWER_MS
    if (isAsked) return
    answeredMs = clock.now()
    tell()
  }

  connection.onTold((bytes) => {
    const mark = parseMark(bytes)
    if (mark === null || parts.isClosed() || !writers.hear(mark)) return
    compare(mark)
    if (mark.asks) answer()
    parts.onHeard()
  })

  return {
    tell,
    async run(closing) {
      while (!closing.aborted) {
        const everyMs = parts.leads() === null ? MARK_MS : LEADER_MARK_MS
        if (isAsked || clock.now() - toldMs >= everyMs) {
          isAsked = false
          tell()
        }
        await clock.pause(TICK_MS)
      }
    },
  }
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
