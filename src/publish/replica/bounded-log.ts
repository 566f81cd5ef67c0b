import type { Appended, EngineMessage, LogEngine } from '../../engine/log-engine.ts'
import { ATTEMPT_MS_MAX, EngineError } from '../../engine/log-engine.ts'
import type { ReplicaClock } from './replica-clock.ts'

/** Longest duration of a question to the engine, in milliseconds. */
const QUESTION_MS_MAX = 5000

/**
 * The same log, whose calls always end in time. An answer after that is ignored: the message is read later. Calls
 * `onPlace` with the places that the engine names.
 */
export function boundedLog(log: LogEngine, clock: ReplicaClock, onPlace: (place: number) => void): LogEngine {
  async function noted(question: Promise<number>): Promise<number> {
    const place = await question
    onPlace(place)
    return place
  }

  async function read(from: number, bytesMax: number): Promise<readonly EngineMessage[]> {
    const messages = await log.read(from, bytesMax)
    const newest = messages.at(-1)
    if (newest !== undefined) onPlace(newest.place)
    return messages
  }

  return {
    append: (place, bytes) =>
      clock
        .within<Appended>(ATTEMPT_MS_MAX, log.append(place, bytes), () => 'unknown')
        // A failure says nothing about the message, whatever the engine promises.
        .catch(() => 'unknown'),
    read: (from, bytesMax) => clock.within(QUESTION_MS_MAX, read(from, bytesMax), tooLate),
    last: () => clock.within(QUESTION_MS_MAX, noted(log.last()), tooLate),
    wait: (from, msMax) => clock.within(msMax, log.wait(from, msMax), () => undefined),
  }
}

function tooLate(): never {
  throw new EngineError(`the engine did not answer within ${QUESTION_MS_MAX} ms`)
}
