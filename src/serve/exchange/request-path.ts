import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LogIdentity } from '../../log/store/reader.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import { type ConnectionCount, openCallerConnections } from '../allowance/caller-connections.ts'
import type { Counters } from '../allowance/counters.ts'
import { openFairTurns } from '../fairness/fair-turns.ts'
import { openRequestFeeds, type RequestFeeds } from '../fairness/request-feeds.ts'
import { openRequestLanes, type RequestLanes } from '../fairness/request-lanes.ts'
import type { Following } from '../following/head-waits.ts'
import { openBehindStep } from './behind-step.ts'
import { CLOCK_TOLERANCE_MS } from '../following/following-limits.ts'
import { openReadyReplies } from '../http/ready-replies.ts'
import type { RequestIds } from '../http/request-ids.ts'
import type { Router } from '../http/router.ts'
import { openNearPaths } from '../near/near-paths.ts'
import { openUnreadAnswers, UNREAD_BYTES_MAX } from './unread-answers.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Report } from './answer-report.ts'
import { openAnswerDeadlines } from './answer-deadlines.ts'
import { openAllowanceStep, openRowsCharge } from './allowance-step.ts'
import { openExchange } from './exchange.ts'
import { openFailure } from './failure.ts'
import { type AnswerInTurn, openAskElsewhere, openRefuse, type Present } from './thread-question.ts'
import { openReadyStep } from './ready-step.ts'
import { checkForm, checkMethod, checkTarget, openReadinessCheck, openRouteCheck } from './request-checks.ts'
import { openRouteAnswer } from './route-answer.ts'
import { openVisits } from './visit.ts'

/** Parts of a serving thread that its requests pass; nothing here is read from the environment. */
export type RequestPathParts = Readonly<{
  identity: LogIdentity
  /** Address of the service that this mirror follows; null on a node that is no mirror. */
  mirrorOf: string | null
  licence: string | null
  requestIds: RequestIds
  router: Router
  /** Makes answers that are not brief, and the pages of refusals. */
  answer: AnswerInTurn
  /** The caller that the allowance counts by. */
  callerOf(request: IncomingMessage): string
  /** The allowances; null when no limit is set. */
  counters: Counters | null
  /** Reason why this node answers nothing of the API at present; undefined when it does. */
  unready(): Problem | undefined
  /** The waits for a log that this node follows; null on a node that is alone. */
  following: Following | null
  now(): Ms
  monotonicMs(): number
  problemBase: string
  metrics: Metrics
  report: Report
}>

/** The path of a thread's requests. */
export type RequestPath = Pick<RequestLanes, 'answering' | 'end'> &
  Pick<RequestFeeds, 'isPastTarget'> &
  Readonly<{ enter(request: IncomingMessage, response: ServerResponse): void }>

/** Opens the path of requests, from bytes on a connection to the written answer: its steps in their order. */
export function openRequestPath(
  server: Server,
  connections: ConnectionCount | null,
  parts: RequestPathParts,
): RequestPath {
  const { counters, unready, now, monotonicMs, metrics } = parts
  const ready = openReadyReplies()
  const { cut } = parts.report
  const unfinished = {
    deadlines: openAnswerDeadlines(monotonicMs, () => cut('late')),
    unread: openUnreadAnswers(UNREAD_BYTES_MAX, () => cut('memory')),
    monotonicMs,
  }

  // A connection: its bytes are parsed a slice at a time, and its requests run one at a time.
  const lanes = openRequestLanes(begin, { onTaken: (socket: Socket) => feeds.resume(socket) })
  const feeds = openRequestFeeds(server, lanes.isFull)
  const refuseOverLimit = openCallerConnections(server, connections, parts)

  // A request: it waits for its caller's turn, and an answer that is ready is written at once.
  const turns = openFairTurns(monotonicMs)
  const writeReady = openReadyStep({ ready, counters, unready, ...unfinished })
  const openVisit = openVisits(parts, ready)

  // Any other request: the first of these steps that has a reply ends them.
  const toleranceMs = parts.following === null ? 0 : CLOCK_TOLERANCE_MS
  const present = (): Present => {
    const ms = now()
    return { now: ms, latest: msOf(ms + toleranceMs) }
  }
  const askElsewhere = openAskElsewhere(parts.answer, present)
  const steps = [
    openAllowanceStep(counters, metrics),
    checkForm,
    checkMethod,
    checkTarget,
    openRouteCheck(openNearPaths(parts.router.paths)),
    openReadinessCheck(unready),
    openBehindStep(parts.following, metrics),
    openRouteAnswer(askElsewhere, present, parts.router),
  ]

  // Its reply: a refusal becomes JSON or a page, a page is charged for the rows that it read, and the reply is written.
  const refuse = openRefuse(askElsewhere)
  const chargeRows = openRowsCharge(counters)
  const fail = openFailure(parts.report, refuse)
  const exchange = openExchange({ steps, refuse, chargeRows, fail, report: parts.report, ...unfinished })

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const caller = parts.callerOf(request)
    turns.run(caller, () => {
      // A caller that has left gets no answer.
      if (request.socket.destroyed) return
      const decision = writeReady(request, response, caller)
      if (decision !== 'written') exchange(openVisit(request, response, caller, decision))
    })
  }

  return {
    enter(request, response) {
      if (!refuseOverLimit(request, response)) lanes.enter(request, response)
    },
    isPastTarget: feeds.isPastTarget,
    answering: lanes.answering,
    end: lanes.end,
  }
}
