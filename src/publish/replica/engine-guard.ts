import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import type { ReplicaClock } from './replica-clock.ts'

type ClockOffset = Awaited<ReturnType<EngineConnection['clockOffset']>>

/** Last answers to the guard. Null before the first answer. */
export type GuardReport = Readonly<{ offset: ClockOffset | null; complaints: readonly string[] | null }>

/**
 * Compares clocks every 10 s, and the engine's settings every 20 s and after each change: sooner after a
 * complaint.
 */
export type EngineGuard = Readonly<{
  report(): GuardReport
  /** Reason why nothing may be appended: the wrong clock or settings, or no answer yet. Null when it may. */
  refusal(): Readonly<{ is: 'clock' | 'unavailable' | 'unasked'; reason: string }> | null
  /** Forgets the settings, which are asked for again. */
  changed(): void
  run(closing: AbortSignal): Promise<void>
}>

const CLOCK_MS = 10_000
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
  let report: GuardReport = { offset: null, complaints: null }
  let clockDueMs = Number.NEGATIVE_INFINITY
  let inspectDueMs = Number.NEGATIVE_INFINITY
  /** Changes so far, and the complaints before the newest one. */
  let changes = 0
  let before: readonly string[] | null = null

  function note(news: Partial<GuardReport>): void {
    report = { ...report, ...news }
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
      if (offset !== null && offset.errorMs <= ERROR_MS_MAX) {
        clockDueMs = clock.now() + CLOCK_MS
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
    note({ complaints: complaints ?? report.complaints ?? before })
    inspectDueMs = clock.now() + (complaints?.length === 0 ? INSPECT_MS : COMPLAINT_MS)
  }

  return {
    report: () => report,
    refusal() {
      const { offset, complaints } = report
      if (offset === null || complaints === null) {
        return { is: 'unasked', reason: 'the engine of the log has not answered yet' }
      }
      if (Math.abs(offset.offsetMs) >= OFFSET_MS_MAX) {
        const reason = `the clocks of this machine and of the engine differ by ${Math.abs(offset.offsetMs)} ms`
        return { is: 'clock', reason }
      }
      if (complaints.length === 0) return null
      return { is: 'unavailable', reason: 'the engine of the log is not set up as it must be' }
    },
    changed() {
      changes += 1
      before = report.complaints ?? before
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
