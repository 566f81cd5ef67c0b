import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import type { ReplicaClock } from './replica-clock.ts'

type ClockOffset = Awaited<ReturnType<EngineConnection['clockOffset']>>

/** Last answers to the guard. Null before the first answer. */
export type GuardReport = Readonly<{
  /** Null also when the newest one is older than `CLOCK_AGE_MS_MAX`. */
  offset: ClockOffset | null
  /** Reason why `offset` is too old: the engine does not answer, or its answers are too inexact. Null when it is not. */
  isOld: 'engine' | 'clock' | null
  complaints: readonly string[] | null
}>

/**
 * Compares clocks every 10 s, and the engine's settings every 20 s and after each change: sooner after a
 * complaint.
 */
export type EngineGuard = Readonly<{
  report(): GuardReport
  /** Reason why nothing may be appended: the wrong clock or settings, or no answer yet or for too long. Null when it may. */
  refusal(): Readonly<{ is: 'clock' | 'unavailable' | 'unasked'; reason: string }> | null
  /** Forgets the settings, which are asked for again. */
  changed(): void
  run(closing: AbortSignal): Promise<void>
}>

const CLOCK_MS = 10_000
/** Age from which a comparison of clocks says nothing, in milliseconds: two in a row have failed. */
const CLOCK_AGE_MS_MAX: number = 3 * CLOCK_MS
const INSPECT_MS = 20_000
/** Time until the next inspection while there are complaints, or no answer. */
const COMPLAINT_MS = 5000
/** Time between two looks at what is due. */
const TICK_MS = 500
/** Longest wait for an answer. */
const ANSWER_MS_MAX = 5000
/** Offset from which the log is not written to, in milliseconds. */
export const OFFSET_MS_MAX = 5000
/** Error of a measurement above which it says nothing. */
const ERROR_MS_MAX = 1000

type GuardParts = Readonly<{ connection: EngineConnection; clock: ReplicaClock }>

export function openEngineGuard({ connection, clock }: GuardParts): EngineGuard {
  let known: Pick<GuardReport, 'offset' | 'complaints'> = { offset: null, complaints: null }
  let comparedMs = Number.NEGATIVE_INFINITY
  let missing: 'engine' | 'clock' = 'engine'
  let clockDueMs = Number.NEGATIVE_INFINITY
  let inspectDueMs = Number.NEGATIVE_INFINITY
  /** Changes so far, and the complaints before the newest one. */
  let changes = 0
  let before: readonly string[] | null = null

  function note(news: Partial<typeof known>): void {
    known = { ...known, ...news }
  }

  function report(): GuardReport {
    if (known.offset === null || clock.now() - comparedMs < CLOCK_AGE_MS_MAX) return { ...known, isOld: null }
    return { ...known, offset: null, isOld: missing }
  }

  /** The answer, or null when the engine gives none. */
  async function answerOf<Answer>(question: () => Promise<Answer>): Promise<Answer | null> {
    try {
      return await clock.within<Answer | null>(ANSWER_MS_MAX, question(), () => null)
    } catch (error) {
      if (error instanceof EngineError) return null
      throw error
    }
  }

  async function ask(): Promise<void> {
    if (clock.now() >= clockDueMs) {
      const offset = await answerOf(() => connection.clockOffset())
      missing = offset === null ? 'engine' : 'clock'
      if (offset !== null && offset.errorMs <= ERROR_MS_MAX) {
        comparedMs = clock.now()
        clockDueMs = comparedMs + CLOCK_MS
        note({ offset })
      }
    }
    if (clock.now() >= inspectDueMs) await inspect()
  }

  async function inspect(): Promise<void> {
    const asking = changes
    const complaints = await answerOf(() => connection.inspect())
    if (asking !== changes) return
    // Without an answer, what was known before the change holds.
    note({ complaints: complaints ?? known.complaints ?? before })
    inspectDueMs = clock.now() + (complaints?.length === 0 ? INSPECT_MS : COMPLAINT_MS)
  }

  return {
    report,
    refusal: () => refusalOf(report()),
    changed() {
      changes += 1
      before = known.complaints ?? before
      inspectDueMs = Number.NEGATIVE_INFINITY
      note({ complaints: null })
    },
    async run(closing) {
      while (!closing.aborted) {
        await ask()
        await clock.pause(TICK_MS)
      }
    },
  }
}

function refusalOf({ offset, isOld, complaints }: GuardReport): ReturnType<EngineGuard['refusal']> {
  if (isOld === 'clock') {
    const seconds = CLOCK_AGE_MS_MAX / 1000
    return { is: 'clock', reason: `the clock of the engine could not be read exactly for ${seconds} s` }
  }
  if (offset === null || complaints === null) {
    return { is: 'unasked', reason: 'the engine of the log does not answer' }
  }
  const apartMs = Math.abs(offset.offsetMs)
  if (apartMs >= OFFSET_MS_MAX) {
    const reason = `the clocks of this machine and of the engine differ by ${Math.round(apartMs)} ms`
    return { is: 'clock', reason }
  }
  if (complaints.length === 0) return null
  return { is: 'unavailable', reason: 'the engine of the log is not set up as it must be' }
}
