import type { ReplicaClock } from './replica-clock.ts'
import type { WriterMark } from './writer-mark.ts'

/** Names of the writers that this node has ever heard, kept over restarts. */
export type KnownWriters = Readonly<{ names(): readonly string[]; add(name: string): void }>

/** The newest mark of another writer, and when it was heard. */
export type HeardMark = Readonly<{ mark: WriterMark; atMs: number }>

/** Marks of the other writers of the log. */
export type OtherWriters = Readonly<{
  /** Notes a mark. Returns whether it is one of another writer of this log. */
  hear(mark: WriterMark): boolean
  heard(): readonly HeardMark[]
  /** Known writers without a mark since then. */
  silentSince(ms: number): readonly string[]
  /** Those of the writers that were heard within `SILENCE_MS` that are farther than a place. */
  aheadOf(place: number): readonly string[]
  /** The farthest mark of the writers that were heard within `SILENCE_MS`. */
  farthest(): number
  /** Whether another writer has lost a place within the last second. */
  contend(): boolean
}>

/** Silence after which a writer is waited for no longer, in milliseconds. */
export const SILENCE_MS = 10_000
/** Silence after which a writer counts as away: two marks in a row did not come. In milliseconds. */
export const AWAY_MS: number = 2 * SILENCE_MS
/** Time for which a lost place of another writer counts. */
const CONTENTION_MS = 1000
/** Most writers that are kept in mind. Marks come from users of the engine only. */
const WRITERS_MAX = 32

/** Names of this node, of its run, and of the log and the stream that it writes. */
type OwnName = Readonly<{ node: string; run: string; logId: string; stream: number }>

export function openOtherWriters(own: OwnName, known: KnownWriters, clock: ReplicaClock): OtherWriters {
  const marks = new Map<string, HeardMark>()
  let contendedMs = Number.NEGATIVE_INFINITY
  const names = new Set(known.names())

  function remember(name: string): void {
    if (names.has(name)) return
    names.add(name)
    known.add(name)
  }

  const recent = (): readonly WriterMark[] =>
    [...marks.values()].flatMap(({ mark, atMs }) =>
      mark.stream === own.stream && clock.now() - atMs < SILENCE_MS ? [mark] : [],
    )

  return {
    hear(mark) {
      if (mark.logId !== own.logId || mark.run === own.run) return false
      if (!marks.has(mark.node) && marks.size >= WRITERS_MAX) return false
      // An older mark of this node's last run can still arrive: a start must not wait for it.
      if (mark.node !== own.node) remember(mark.node)
      marks.set(mark.node, { mark, atMs: clock.now() })
      if (mark.contends) contendedMs = clock.now()
      return true
    },
    heard: () => [...marks.values()],
    silentSince: (ms) =>
      [...names].filter((name) => (marks.get(name)?.atMs ?? Number.NEGATIVE_INFINITY) < ms),
    aheadOf: (place) => recent().flatMap((mark) => (mark.place > place ? [mark.node] : [])),
    farthest: () => recent().reduce((farthest, { place }) => Math.max(farthest, place), 0),
    contend: () => clock.now() - contendedMs < CONTENTION_MS,
  }
}
