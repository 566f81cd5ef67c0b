import type { FailedOutcome } from '../admission/outcome.ts'
import type { CommitPath, CommitResult } from './commit-path.ts'

/** Answer of a request, to be given after its commit. */
export type RequestAnswer = Readonly<{
  /** Whether it may be wrong when other nodes have published what this one does not know. */
  needsBarrier: boolean
  give(): void
}>

/** A request that waits for its commit. */
export type WaitingRequest = Readonly<{
  drafts: number
  /** When it arrived, in milliseconds of the monotonic clock. */
  arrivedMs: number
  /** Whether a read barrier was reached that began after its arrival. */
  isFenced: boolean
  /** Runs the request in the transaction. It may run again in a later one. */
  run(): RequestAnswer
  refuse(outcome: FailedOutcome): void
}>

/** Whether a result that changed nothing must be checked against the whole log. */
export type Fence<Result> = (result: Result) => boolean

type WaitingRequests = Readonly<{
  /** Adds work to the next commit. Settles with its result when that is on the disk. */
  add<Result>(drafts: number, work: () => Result, fence: Fence<Result>): Promise<Result | FailedOutcome>
  size(): number
  /** Takes the requests of the next commit. */
  take(): readonly WaitingRequest[]
  /** Puts requests back whose commit was too large. False when the next one cannot be smaller: nothing is put back. */
  divide(batch: readonly WaitingRequest[]): boolean
  /** Most held drafts that the next commit publishes. */
  releaseMax(): number
  /** Answers the requests of a commit. Those that need a read barrier first come again after it. */
  answer(
    batch: readonly WaitingRequest[],
    result: Extract<CommitResult<readonly RequestAnswer[]>, { is: 'committed' }>,
  ): void
  /** Settles when no request waits for a read barrier. */
  settled(): Promise<void>
}>

const BEHIND: FailedOutcome = {
  ok: false,
  code: 'behind',
  index: null,
  field: null,
  reason: 'this node cannot learn whether it knows the newest events; nothing was published',
}

/** Opens the requests that wait. `changed` is called when one comes, and when some are back from a read barrier. */
export function openWaitingRequests(
  path: Pick<CommitPath, 'draftsMax' | 'releaseMax' | 'barrier'>,
  monotonicMs: () => number,
  changed: () => void,
): WaitingRequests {
  const waiting: WaitingRequest[] = []
  const atBarrier = new Set<Promise<void>>()
  /** Most requests of the next commit. */
  let requestsMax = Number.POSITIVE_INFINITY
  let { releaseMax } = path

  /** Gets the requests to the newest state, and puts them back. */
  async function fence(requests: readonly WaitingRequest[]): Promise<void> {
    const isReached = await path.barrier().catch(() => false)
    if (isReached) waiting.unshift(...requests.map((request) => ({ ...request, isFenced: true })))
    else for (const { refuse } of requests) refuse(BEHIND)
    changed()
  }

  return {
    add: (drafts, work, needsBarrier) =>
      new Promise((settle) => {
        waiting.push({
          drafts,
          arrivedMs: monotonicMs(),
          isFenced: false,
          run() {
            const result = work()
            return { needsBarrier: needsBarrier(result), give: () => settle(result) }
          },
          refuse: settle,
        })
        changed()
      }),
    size: () => waiting.length,
    take: () => waiting.splice(0, Math.min(batchSize(waiting, path.draftsMax), requestsMax)),
    divide(batch) {
      if (batch.length > 1) requestsMax = Math.ceil(batch.length / 2)
      // The drafts that the commit would release may be what is too large.
      else if (releaseMax > 0) releaseMax = Math.floor(releaseMax / 4)
      else return false
      waiting.unshift(...batch)
      return true
    },
    releaseMax: () => releaseMax,
    answer(batch, { built, newest }) {
      requestsMax = Number.POSITIVE_INFINITY
      releaseMax = path.releaseMax
      const unfenced: WaitingRequest[] = []
      for (const [index, answer] of built.entries()) {
        const request = batch[index]
        if (newest || request === undefined || request.isFenced || !answer.needsBarrier) answer.give()
        else unfenced.push(request)
      }
      if (unfenced.length === 0) return
      const fenced = fence(unfenced)
      atBarrier.add(fenced)
      void fenced.finally(() => atBarrier.delete(fenced))
    },
    async settled() {
      await Promise.all(atBarrier)
    },
  }
}

function batchSize(waiting: readonly WaitingRequest[], draftsMax: number): number {
  let drafts = 0
  const count = waiting.findIndex((request) => {
    drafts += request.drafts
    return drafts > draftsMax
  })
  return count < 0 ? waiting.length : Math.max(count, 1)
}
