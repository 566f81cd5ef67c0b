import { reasonOf } from '../../protocol/error-reason.ts'
import type { DoorSettings, PublishOutcome } from './door.ts'
import type { DoorReport } from './door-replies.ts'
import type { FromWriter, WriterSettings } from './writer-messages.ts'

/** Number of prefixes of request ids, so that no two starts are likely to share one. */
const REQUEST_PREFIXES = 2 ** 32

/** Opens the reports of the door to the main thread. */
export function openReports(
  { tellsAccepted }: WriterSettings,
  { say, random }: Readonly<{ say(message: FromWriter): void; random(): number }>,
): Pick<
  DoorSettings,
  'onRequest' | 'onCrowded' | 'onAnswered' | 'tellsAccepted' | 'requestPrefix' | 'onFailure'
> {
  return {
    ...openRequestCount((outcomes, answers) => say({ is: 'requests', outcomes, answers })),
    onCrowded: () => say({ is: 'crowded' }),
    tellsAccepted,
    requestPrefix: `d${Math.floor(random() * REQUEST_PREFIXES).toString(36)}`,
    onFailure: (error: unknown, answer: DoorReport) =>
      say({ is: 'failure', reason: reasonOf(error), answer }),
  }
}

/** Opens a counter of requests that sends one message for each turn of the event loop, because messages are costly. */
function openRequestCount(
  tell: (outcomes: ReadonlyMap<PublishOutcome, number>, answers: readonly DoorReport[]) => void,
): Readonly<{ onRequest(outcome: PublishOutcome): void; onAnswered(answer: DoorReport): void }> {
  const outcomes = new Map<PublishOutcome, number>()
  const answers: DoorReport[] = []
  function schedule(): void {
    if (outcomes.size > 0 || answers.length > 0) return
    setImmediate(() => {
      tell(outcomes, answers)
      outcomes.clear()
      answers.length = 0
    })
  }
  return {
    onRequest(outcome) {
      schedule()
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    },
    onAnswered(answer) {
      schedule()
      answers.push(answer)
    },
  }
}
