import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Problem } from '../../protocol/problem.ts'
import type { Decision } from '../allowance/allowance.ts'
import type { Counters } from '../allowance/counters.ts'
import { findReady, type FoundReady, writeReady } from '../http/ready-answer.ts'
import type { ReadyReplies } from '../http/ready-replies.ts'
import type { UnreadAnswers } from './unread-answers.ts'
import type { AnswerDeadlines } from './answer-deadlines.ts'

/** Writes the ready answer of a request; otherwise returns the decision of the allowance, if it was asked. */
type ReadyStep = (
  request: IncomingMessage,
  response: ServerResponse,
  caller: string,
) => 'written' | Decision | undefined

/** Parts of a thread that the step uses. */
type ReadyStepParts = Readonly<{
  ready: ReadyReplies
  counters: Counters | null
  unready(): Problem | undefined
  deadlines: AnswerDeadlines
  unread: UnreadAnswers
  monotonicMs(): number
}>

/** Opens the step that answers from the ready replies, which all cost one request of the API allowance. */
export function openReadyStep(parts: ReadyStepParts): ReadyStep {
  const { ready, counters, unready, deadlines, unread, monotonicMs } = parts

  function write(response: ServerResponse, caller: string, found: FoundReady, startedMs: number): void {
    writeReady(response, found)
    const { tally, body } = found.reply
    if (response.socket?.writableLength === 0) {
      tally.add('GET', response.statusCode, (monotonicMs() - startedMs) / 1000)
      return
    }
    deadlines.begin(response, { method: 'GET', tally, startedMs })
    unread.watch(response, caller, typeof body === 'string' ? null : body)
  }

  return (request, response, caller) => {
    const found = findReady(ready, request)
    if (found === undefined || unready() !== undefined) return undefined
    const startedMs = monotonicMs()
    if (counters !== null) {
      let decision: Decision
      try {
        decision = counters.api.decide(caller)
      } catch {
        // The allowance step asks again. If that fails too, its caller gets a 500 and the error is reported.
        return undefined
      }
      if (!decision.allowed) return decision
    }
    write(response, caller, found, startedMs)
    return 'written'
  }
}
