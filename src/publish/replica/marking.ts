import type { EngineConnection } from '../../engine/log-engine.ts'
import type { BookFollower } from './book-follower.ts'
import { openMarkGate } from '../marks/mark-gate.ts'
import type { OtherWriters } from '../marks/other-writers.ts'
import type { ReplicaClock } from './replica-clock.ts'
import type { RunClock } from './run-clock.ts'
import type { StopCause } from './replica-stop.ts'
import type { MarkKeys } from '../marks/sealed-mark.ts'
import { sealMark } from '../marks/sealed-mark.ts'
import type { WriterMark } from '../marks/writer-mark.ts'
import { isOfStream, LIST_MAX } from '../marks/writer-mark.ts'

/** The part of a mark that does not follow from the books of the replica. */
export type OwnMark = Pick<
  WriterMark,
  'node' | 'run' | 'logId' | 'stream' | 'seq' | 'root' | 'program' | 'frames' | 'keys' | 'rules'
>

/** Tells the mark of this writer, and hears those of the others. */
export type Marking = Readonly<{
  tell(why?: Partial<Pick<WriterMark, 'asks' | 'contends'>>): void
  /** Tells a mark within `SOON_MS`, because something is new. */
  tellSoon(): void
  run(closing: AbortSignal): Promise<void>
  /** Marks so far that no node of this log has told just now. */
  refusedTotal(): number
}>

/** Time between two marks, and between two marks of a node that leads, in milliseconds. */
const MARK_MS = 10_000
const LEADER_MARK_MS = 1000
/** Time between two looks at whether a mark is due. */
const TICK_MS = 500
/** Shortest time between two marks that are told because something is new. */
const SOON_MS = 100

type MarkingParts = Readonly<{
  connection: EngineConnection
  clock: ReplicaClock
  follower: BookFollower
  writers: OtherWriters
  /** Number of the stream that this replica writes. */
  stream: number
  own(): OwnMark
  keys(): MarkKeys
  time: RunClock
  leads(): WriterMark['leads']
  stopped(): string | null
  isClosed(): boolean
  onHeard(): void
  /** Called when another writer asks for marks: it may have noticed something that this one has not. */
  onAsked(): void
  /** Called when another writer has another message at a place of these books. */
  onFork(cause: StopCause): void
}>

export function openMarking(parts: MarkingParts): Marking {
  const { connection, clock, follower, writers } = parts
  const gate = openMarkGate({ ...parts, engineMs: parts.time.engineMs, logId: parts.own().logId })
  let number = -1
  let toldMs = Number.NEGATIVE_INFINITY
  let soonMs = Number.NEGATIVE_INFINITY
  let isDue = false
  /** Questions that wait for an answer. */
  let asked: readonly string[] = []

  function tell(why: Partial<Pick<WriterMark, 'asks' | 'contends'>> = {}): void {
    const { place, digest } = follower.end()
    const newest = { begin: beginningOf(follower), place, digest: base64url(digest) }
    const state = { leads: parts.leads(), stopped: parts.stopped(), asks: null, contends: false }
    // Later than all marks of this run, also than those of its replica of an earlier stream.
    number = Math.max(number + 1, Math.round(clock.now()))
    const told = { number, atMs: parts.time.engineMs(), sinceMs: parts.time.sinceMs(), answers: asked }
    const mark = {
      v: 1,
      ...parts.own(),
      ...told,
      ...newest,
      ...state,
      ...why,
    } as const
    asked = []
    toldMs = clock.now()
    connection.tell(sealMark(mark, parts.keys()))
  }

  function tellSoon(): void {
    if (isDue) return
    const waitMs = Math.max(0, soonMs + SOON_MS - clock.now())
    soonMs = clock.now() + waitMs
    if (waitMs === 0) return tell()
    isDue = true
    void clock.pause(waitMs).then(() => {
      isDue = false
      if (!parts.isClosed()) tell()
    })
  }

  connection.onTold((bytes) => {
    if (parts.isClosed()) return
    const opened = gate.open(bytes)
    if (opened === null || !writers.hear(opened)) return
    const { mark } = opened
    const fork = forkIn(mark, parts)
    if (fork !== null) parts.onFork(fork)
    if (mark.asks !== null) {
      asked = [...asked, mark.asks].slice(-LIST_MAX)
      parts.onAsked()
      tellSoon()
    }
    parts.onHeard()
  })

  return {
    tell,
    tellSoon,
    refusedTotal: gate.refusedTotal,
    async run(closing) {
      while (!closing.aborted) {
        const everyMs = parts.leads() === null ? MARK_MS : LEADER_MARK_MS
        if (clock.now() - toldMs >= everyMs) tell()
        await clock.pause(TICK_MS)
      }
    },
  }
}

/** A fork is certain when another writer has another message at a place of these books, or knows of a fork itself. */
function forkIn(
  mark: WriterMark,
  { follower, stream }: Pick<MarkingParts, 'follower' | 'stream'>,
): StopCause | null {
  if (!isOfStream(mark, { stream, begin: beginningOf(follower) })) return null
  const { node, place, digest, stopped } = mark
  const ours = place === 0 ? undefined : follower.digestAt(place)
  const differs = ours !== undefined && base64url(ours) !== digest
  if (!differs && stopped !== 'fork') return null
  const reason = differs
    ? `the writer ${node} has another message at place ${place} than this node has served`
    : `the writer ${node} has stopped because the log has forked`
  return { is: 'fork', place, reason }
}

/** Beginning of the stream of a book, as marks have it. */
export function beginningOf({ beginning }: Pick<BookFollower, 'beginning'>): string | null {
  const digest = beginning()
  return digest === null ? null : base64url(digest)
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
