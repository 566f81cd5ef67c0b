import { LATE } from './questions.ts'

/** Milliseconds within which `/readyz` answers. */
export const READY_MS_MAX = 1_000
/** Milliseconds within which `/metrics` and `/livez` answer: less than Prometheus waits for a scrape by default. */
export const METRICS_MS_MAX = 5_000
/** Milliseconds of these that the main thread gives each other thread, so that it can still name the one that is late. */
export const THREAD_READY_MS_MAX = 600
export const THREAD_METRICS_MS_MAX = 4_000
/** The thread that answers for the others, as it is named when it does not. */
export const MAIN_THREAD = 'main thread'

/** What the private listener answers about the node itself. */
export type OperationsAnswer = Readonly<{
  status: 200 | 400 | 500 | 503
  headers: Readonly<Record<string, string>>
  body: string
}>

/** Whether readers can be served here. */
export type Readiness = Readonly<{
  /** The store can be read, and no audit has found it wrong. */
  store: boolean
  /** The service is not stopping, and every thread that serves answers. */
  serving: boolean
  /** The threads that did not answer in time. */
  unanswered: readonly string[]
}>

/** A question that only the main thread can answer. */
export type OperationsPath = '/livez' | '/readyz' | '/metrics'

type OperationsSettings = Readonly<{
  /** Whether a publish request would be taken now, as far as the node itself goes. */
  accepting(): boolean
  /** Asks the main thread. */
  ask(path: OperationsPath, msMax: number): Promise<OperationsAnswer | typeof LATE>
}>

/**
 * Answers `/livez`, `/readyz` and `/metrics` on the private listener, each within its time limit; undefined for any
 * other address. `/readyz?for=publish` needs the writer alone, and so waits for no other thread.
 */
export function openOperations({
  accepting,
  ask,
}: OperationsSettings): (target: string) => Promise<OperationsAnswer | undefined> {
  return async (target) => {
    if (target.startsWith('/readyz?')) {
      return target === '/readyz?for=publish' ? readyToPublish(accepting()) : UNKNOWN_QUESTION
    }
    switch (target) {
      case '/readyz': {
        const answer = await ask(target, READY_MS_MAX)
        const silent = { store: false, serving: false, unanswered: [MAIN_THREAD] }
        return answer === LATE ? readyToRead(silent, accepting()) : answer
      }
      case '/livez':
      case '/metrics': {
        const answer = await ask(target, METRICS_MS_MAX)
        return answer === LATE ? notInTime(MAIN_THREAD, METRICS_MS_MAX) : answer
      }
      default:
        return undefined
    }
  }
}

/** `/readyz`: what readers need decides, and whether the node takes publishes is told beside it. */
export function readyToRead({ store, serving, unanswered }: Readiness, accepting: boolean): OperationsAnswer {
  const ready = store && serving
  const checks = { store, serving, accepting_publishes: accepting }
  return json(ready ? 200 : 503, { ready, checks, ...(unanswered.length === 0 ? {} : { unanswered }) })
}

function readyToPublish(accepting: boolean): OperationsAnswer {
  return json(accepting ? 200 : 503, { ready: accepting, checks: { accepting_publishes: accepting } })
}

/** What is said when a thread has not answered in time. */
export function notInTime(thread: string, msMax: number): OperationsAnswer {
  return text(503, `the ${thread} did not answer within ${msMax} ms\n`)
}

/** What is said when an answer could not be made; the cause is in the service's own report. */
export function notMade(what: string): OperationsAnswer {
  return text(500, `${what} could not be read; the report of the service says why\n`)
}

export const ALIVE: OperationsAnswer = json(200, { alive: true })

const UNKNOWN_QUESTION: OperationsAnswer = json(400, {
  code: 'invalid-parameter',
  detail: 'Ask /readyz for readers, or /readyz?for=publish; it has no other parameter and no other value.',
})

function json(status: OperationsAnswer['status'], body: object): OperationsAnswer {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(body),
  }
}

function text(status: OperationsAnswer['status'], body: string): OperationsAnswer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body }
}
