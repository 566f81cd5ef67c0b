import { openContention } from './contention.ts'
import type { OpenedMark } from './sealed-mark.ts'
import type { WriterMark } from './writer-mark.ts'
import { isOfStream } from './writer-mark.ts'
import type { OwnRun, Twins } from './writer-twins.ts'
import { openWriterTwins } from './writer-twins.ts'

/** Names of the writers that this node has ever heard, kept over restarts. An operator may delete some at any time. */
export type KnownWriters = Readonly<{ names(): readonly string[]; add(name: string): void }>

/** The newest mark of another writer, the key that signed it, and when it was heard. */
export type HeardMark = OpenedMark & Readonly<{ atMs: number }>

/** A clock of milliseconds that never jumps. */
export type RunningClock = Readonly<{ now(): number }>

/** Marks of the other writers of the log. */
export type OtherWriters = Readonly<{
  /** Notes a mark. Returns whether it is a new one of another writer of this log. */
  hear(opened: OpenedMark): boolean
  /** The newest mark of each name and key. */
  heard(): readonly HeardMark[]
  /** Known writers without a mark since then. */
  silentSince(ms: number): readonly string[]
  /** Known writers without a mark within `SILENCE_MS`. */
  absent(): readonly string[]
  /** Known writers that have not answered a question. */
  owing(question: string): readonly string[]
  /** Whether any writer has answered a question. */
  hasAnswered(question: string): boolean
  /** Writers heard within `SILENCE_MS` that are in a later stream: this one has ended, whatever the engine shows. */
  later(): readonly string[]
  /** Writers heard within `SILENCE_MS` that are farther than a place, or in a later stream. */
  aheadOf(place: number): readonly string[]
  /** The farthest mark of the writers that were heard within `SILENCE_MS`. */
  farthest(): number
  /** Whether another writer has lost a place within the last second. */
  contend(): boolean
  /** Longest time for which one of the others has lost places and won none, in milliseconds. */
  inVainMs(): number
  /** Nodes that share what each must have alone, as heard lately. */
  twins(): readonly Twins[]
}>

/** Silence after which a writer is waited for no longer, in milliseconds. */
export const SILENCE_MS = 10_000
/** Silence after which a writer counts as away: two marks in a row did not come. In milliseconds. */
export const AWAY_MS: number = 2 * SILENCE_MS
/** Time between two looks at the names that are known, in milliseconds. */
const READ_MS = 1000
/** Most runs of writers that are kept in mind. One that is away gives its room to another. */
const WRITERS_MAX = 32

/** Opens what is known of the other writers of a stream. */
export function openOtherWriters(
  own: OwnRun & Readonly<{ logId: string; stream: number; begin(): string | null }>,
  known: KnownWriters,
  clock: RunningClock,
): OtherWriters {
  const runs = new Map<string, HeardMark>()
  /** The last question that each writer has answered, by its name. */
  const answered = new Map<string, string>()
  const twins = openWriterTwins(own, clock)
  const contention = openContention(clock)
  const names = openNames(own, runs, known, clock)

  const fresh = (): readonly WriterMark[] =>
    [...runs.values()].flatMap(({ mark, atMs }) => (clock.now() - atMs < SILENCE_MS ? [mark] : []))
  const recent = (): readonly WriterMark[] =>
    fresh().filter((mark) => isOfStream(mark, { stream: own.stream, begin: own.begin() }))
  const later = (): readonly string[] =>
    fresh().flatMap(({ stream, node }) => (stream > own.stream ? [node] : []))

  /** Whether there is room for a run, perhaps after the oldest that is long over has gone. */
  function hasRoom(run: string): boolean {
    if (runs.has(run) || runs.size < WRITERS_MAX) return true
    const over = [...runs].find(([, { atMs }]) => clock.now() - atMs > AWAY_MS)
    return over !== undefined && runs.delete(over[0])
  }

  const silentSince = (ms: number): readonly string[] =>
    [...names.all()].filter(
      (name) => ![...runs.values()].some((run) => run.mark.node === name && run.atMs >= ms),
    )

  return {
    hear(told) {
      const { mark } = told
      if (mark.logId !== own.logId || mark.run === own.run) return false
      if ((runs.get(mark.run)?.mark.number ?? -1) >= mark.number || !hasRoom(mark.run)) return false
      twins.note(told, [...runs.values()])
      // An older mark of this node's last run can still arrive: a start must not wait for it.
      if (mark.node !== own.node) names.add(mark.node)
      runs.set(mark.run, { ...told, atMs: clock.now() })
      for (const question of mark.answers)
        if (question.startsWith(`${own.run} `)) answered.set(mark.node, question)
      contention.note(mark)
      return true
    },
    heard() {
      names.all()
      const ordered = [...runs.values()].toSorted((one, other) => one.atMs - other.atMs)
      return [...new Map(ordered.map((run) => [`${run.mark.node} ${run.key}`, run] as const)).values()]
    },
    silentSince,
    absent: () => silentSince(clock.now() - SILENCE_MS),
    owing: (question) => [...names.all()].filter((name) => answered.get(name) !== question),
    hasAnswered: (question) => [...answered.values()].includes(question),
    later,
    aheadOf: (place) => [...later(), ...recent().flatMap((mark) => (mark.place > place ? [mark.node] : []))],
    farthest: () => recent().reduce((farthest, { place }) => Math.max(farthest, place), 0),
    contend: contention.isOn,
    inVainMs: contention.inVainMs,
    twins: twins.found,
  }
}

/** The names of the other writers. They are read again now and then: a deleted one is forgotten once it is silent. */
function openNames(
  own: Pick<OwnRun, 'node'>,
  runs: Map<string, HeardMark>,
  known: KnownWriters,
  clock: RunningClock,
): Readonly<{ all(): ReadonlySet<string>; add(name: string): void }> {
  /** The names that are kept over restarts. `names` has those of the heard writers too. */
  let kept = new Set(known.names())
  let names = new Set(kept)
  let readMs = clock.now()

  function all(): Set<string> {
    if (clock.now() - readMs < READ_MS) return names
    readMs = clock.now()
    kept = new Set(known.names())
    names = new Set(kept)
    for (const [run, { mark, atMs }] of runs) {
      if (names.has(mark.node)) continue
      if (clock.now() - atMs > AWAY_MS) runs.delete(run)
      else if (mark.node !== own.node) names.add(mark.node)
    }
    return names
  }

  return {
    all,
    add(name) {
      all().add(name)
      if (kept.has(name)) return
      kept.add(name)
      known.add(name)
    },
  }
}
