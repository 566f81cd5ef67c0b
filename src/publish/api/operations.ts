import { LATE } from '../thread-link.ts'

/** Time limit of `/readyz` in milliseconds. */
export const READY_MS_MAX = 1_000
/** Time limit of `/metrics` and `/livez` in milliseconds, below the scrape timeout of Prometheus. */
export const METRICS_MS_MAX = 5_000
/** Time limits for the other threads. They are shorter, so that the main thread can name a late thread in time. */
export const THREAD_READY_MS_MAX = 600
export const THREAD_METRICS_MS_MAX = 4_000
/** Name of the main thread in an answer about a late thread. */
export const MAIN_THREAD = 'main thread'

/** An answer of the private listener about the node. */
export type OperationsAnswer = Readonly<{
  status: 200 | 400 | 500 | 503
  headers: Readonly<Record<string, string>>
  body: string
}>

/** Whether the node can serve readers. */
export type Readiness = Readonly<{
  /** The store can be read, and no audit has found a fault. */
  store: boolean
  /** The service is not stopping, and all serving threads answer. */
  serving: boolean
  /** Threads that did not answer in time. */
  unanswered: readonly string[]
  /** Further checks that readiness does not depend on. */
  otherChecks?: Readonly<Record<string, boolean>>
}>

/** A question that only the main thread can answer. */
export type OperationsPath = '/livez' | '/readyz' | '/metrics'

type OperationsSettings = Readonly<{
  /** Whether the node accepts publish requests now. */
  accepting(): boolean
  /** Whether the store's files are still those that the writer opened; absent on a node without a writer. */
  isInPlace?(): boolean
  /** Asks the main thread. */
  ask(path: OperationsPath, msMax: number): Promise<OperationsAnswer | typeof LATE>
}>

/**
 * Answers `/livez`, `/readyz` and `/metrics` on the private listener, each within its time limit. Undefined for any
 * other address. `/readyz?for=publish` concerns only the writer, so it waits for no other thread.
 */
export function openOperations({
  accepting,
  isInPlace,
  ask,
}: OperationsSettings): (target: string) => Promise<OperationsAnswer | undefined> {
  return async (target) => {
    if (target.startsWith('/readyz?')) {
      return target === '/readyz?for=publish' ? readyToPublish(accepting(), isInPlace?.()) : UNKNOWN_QUESTION
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

/** Answer of `/readyz`. The status is about readers only. The body also says whether the node accepts publishes. */
export function readyToRead(
  { store, serving, unanswered, otherChecks = {} }: Readiness,
  accepting: boolean,
): OperationsAnswer {
  const ready = store && serving
  const checks = { store, serving, accepting_publishes: accepting, ...otherChecks }
  return json(ready ? 200 : 503, { ready, checks, ...(unanswered.length === 0 ? {} : { unanswered }) })
}

function readyToPublish(accepting: boolean, inPlace?: boolean): OperationsAnswer {
  const checks = { accepting_publishes: accepting, store_in_place: inPlace }
  return json(accepting ? 200 : 503, { ready: accepting, checks })
}

/** Answer of `/readyz?for=following`: whether a mirror follows its origin. */
export function readyToFollow(following: boolean): OperationsAnswer {
  return json(following ? 200 : 503, { ready: following, checks: { following } })
}

/** Answer when a thread is too late. */
export function notInTime(thread: string, msMax: number): OperationsAnswer {
  return text(503, `the ${thread} did not answer within ${msMax} ms\n`)
}

/** Answer after an error. The cause is in the service's report. */
export function notMade(what: string): OperationsAnswer {
  return text(500, `${what} could not be read; the report of the service says why\n`)
}

export const ALIVE: OperationsAnswer = json(200, { alive: true })

const UNKNOWN_QUESTION: OperationsAnswer = json(400, {
  code: 'invalid-parameter',
  detail:
    'Ask /readyz for readers, /readyz?for=publish, or of a mirror /readyz?for=following; it has no other parameter and no other value.',
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
