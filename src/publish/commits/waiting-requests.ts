import { doorRefusal, type FailedOutcome } from '../admission/outcome.ts'
import type { CommitPath } from './commit-path.ts'

/** A request that waits for its commit. */
export type WaitingRequest = Readonly<{
  drafts: number
  size: number
  /** Moment of its arrival, in milliseconds of the monotonic clock. */
  arrivedMs: number
  /** Runs the request in the transaction. Returns what answers it after the commit. It may run again in a later one. */
  run(): () => void
  refuse(outcome: FailedOutcome): void
}>

type WaitingRequests = Readonly<{
  /** Adds work to the next commit. Settles with its result when that is on the disk. */
  add<Result>(request: RequestSize, work: () => Result): Promise<Result | FailedOutcome>
  count(): number
  /** Takes the requests of the next commit. */
  take(): readonly WaitingRequest[]
}>

/** Number of drafts of a request, and its size in units of the path. */
type RequestSize = Readonly<{ drafts: number; size: number }>

const TOO_LARGE = doorRefusal(
  'too-large',
  'the drafts of one request do not fit one message to the machines that keep the log: divide it',
)

/** Opens the requests that wait. */
export function openWaitingRequests(
  { requestMax, requestsMax }: Pick<CommitPath, 'requestMax' | 'requestsMax'>,
  monotonicMs: () => number,
): WaitingRequests {
  const waiting: WaitingRequest[] = []
  return {
    add: ({ drafts, size }, work) =>
      new Promise((settle) => {
        if (size > requestMax) return settle(TOO_LARGE)
        const run = (): (() => void) => {
          const result = work()
          return () => settle(result)
        }
        waiting.push({ drafts, size, arrivedMs: monotonicMs(), run, refuse: settle })
      }),
    count: () => waiting.length,
    take() {
      let size = 0
      const count = waiting.findIndex((request) => {
        size += request.size
        return size > requestsMax
      })
      return waiting.splice(0, count < 0 ? waiting.length : Math.max(count, 1))
    },
  }
}
