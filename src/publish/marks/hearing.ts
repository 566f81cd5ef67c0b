import type { OtherWriters, RunningClock } from './other-writers.ts'
import { SILENCE_MS } from './other-writers.ts'

/**
 * Whether the other writers were heard since the last change: a start, a reconnection, another leader or timeline.
 * Before that, nothing is appended: another writer may have served messages that the engine has lost.
 */
export type Hearing = Readonly<{
  isHeard(): boolean
  /** Begins anew. */
  begin(): void
  /** The question to ask the others now; null when it is not time. */
  question(): string | null
  /** Known writers that must answer before the end of this hearing. An older mark of theirs does not count. */
  missing(): readonly string[]
  /** Whether all known writers have answered, or are silent for `SILENCE_MS`. */
  isQuiet(): boolean
  /** Ends the hearing that began before `began`; false if it has begun anew in the meantime. */
  end(began: number): boolean
  /** Number of hearings that have begun. */
  began(): number
  /** Writers that the last hearing waited for in vain, and that are silent still. */
  silent(): readonly string[]
}>

/** Time between two questions for marks, and time to hear unknown writers. */
const ASK_MS = 1000

/** Opens the hearing of a run with this name, which nobody can have asked for before. */
export function openHearing(run: string, writers: OtherWriters, clock: RunningClock): Hearing {
  let heard = false
  let began = 0
  let sinceMs = clock.now()
  let askedMs = Number.NEGATIVE_INFINITY
  /** Silent writers of the last hearing, and when it ended. Nobody waits for them again before they are heard. */
  let vain: Readonly<{ names: readonly string[]; endMs: number }> = { names: [], endMs: sinceMs }

  function silent(): readonly string[] {
    const still = new Set(writers.silentSince(vain.endMs))
    return vain.names.filter((name) => still.has(name))
  }

  const question = (): string => `${run} ${began}`

  function missing(): readonly string[] {
    const given = new Set(silent())
    return writers.owing(question()).filter((name) => !given.has(name))
  }

  return {
    isHeard: () => heard,
    begin() {
      heard = false
      began += 1
      sinceMs = clock.now()
      askedMs = Number.NEGATIVE_INFINITY
    },
    question() {
      if (clock.now() - askedMs < ASK_MS) return null
      askedMs = clock.now()
      return question()
    },
    missing,
    isQuiet() {
      const waitedMs = clock.now() - sinceMs
      if (missing().length > 0) return waitedMs >= SILENCE_MS
      return waitedMs >= ASK_MS || writers.hasAnswered(question())
    },
    end(ending) {
      if (ending !== began) return false
      vain = { names: missing(), endMs: clock.now() }
      heard = true
      return true
    },
    began: () => began,
    silent,
  }
}
