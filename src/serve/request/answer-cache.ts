import { LRUCache } from 'lru-cache'
import { negotiate } from '../http/coding.ts'
import type { Reply, Route } from '../http/route.ts'
import type { AnswerJob, RequestJob } from './answer-job.ts'
import type { WrittenAnswer } from './respond.ts'
import type { RequestTally } from '../metrics/metrics.ts'
import { openFairPlaces, type Timed } from '../fairness/fair-turns.ts'

/** Bytes of the finished answers that a serving thread caches. */
const ANSWERS_BYTES_MAX = 64 * 1024 * 1024
/** Bytes of the largest cached answer. The longest and most expensive answer, ten thousand contests, is smaller. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** Bytes of a cached answer besides its body and its target: two lists of headers and its place in the cache. */
const ENTRY_BYTES = 1_024

type CodedReply = Extract<Reply, { is: 'coded' }>

/** Path and query of a request, each alone and together. */
type Target = Readonly<{ path: string; target: string }>

/** Finished answer. An immutable one is always fresh. Any other is fresh while the log and the minute are unchanged. */
type CachedAnswer = {
  /** State of the log and the clock when it was made; null for an immutable answer. */
  readonly present: string | null
  /** Reply of an answer thread; null for an answer of the serving thread. */
  readonly reply: CodedReply | null
  /** Its written form, and the counters of its route, from the first writing on. */
  written?: WrittenAnswer & Readonly<{ tally: RequestTally; allowance: Route['allowance']; rows: number }>
}

/** The finished answers of a serving thread. */
export type AnswerCache = Readonly<{
  /** State of the log and the clock that an answer depends on. It changes with each commit and each minute. */
  present(path: string): string
  /** Fresh answer to a target, in the coding that the caller prefers. */
  find(target: Target, acceptEncoding: string | undefined): CachedAnswer | undefined
  /** Keeps an answer to a target, unless it is too large. */
  set(target: Target, reply: CodedReply, answer: CachedAnswer): void
}>

/** Opens the cache of the most recently used answers, at most `bytesMax` bytes together. */
export function openAnswerCache(
  present: AnswerCache['present'],
  bytesMax: number = ANSWERS_BYTES_MAX,
): AnswerCache {
  const answers = new LRUCache<string, CachedAnswer>({ maxSize: bytesMax })

  function fresh(key: string, path: string): CachedAnswer | undefined {
    const found = answers.get(key)
    return found === undefined || found.present === null || found.present === present(path)
      ? found
      : undefined
  }

  return {
    present,
    find: ({ path, target }, acceptEncoding) =>
      fresh(target, path) ?? fresh(`${negotiate(acceptEncoding) ?? 'identity'} ${target}`, path),
    set({ target }, { body, coding, codable }, answer) {
      if (body.byteLength > Math.min(ANSWER_BYTES_MAX, bytesMax / 4)) return
      // A link to the next page repeats the target.
      const size = ENTRY_BYTES + 2 * target.length + body.byteLength
      // The key of a body that is never coded is its target alone.
      answers.set(codable ? `${coding ?? 'identity'} ${target}` : target, answer, { size })
    },
  }
}

/** Sends jobs to answer threads, each in its caller's turn. */
export type SharedAnswers = Readonly<{
  /** Answers immediately if the answer is cached. Does nothing if `gone` returns true, because the caller has left. */
  answer(caller: string, job: AnswerJob, gone?: () => boolean): Promise<Reply>
  /** Number of jobs that wait for their turn. */
  waiting(): number
}>

type SharedAnswersSettings = Readonly<{
  cache: AnswerCache
  /** Number of concurrent jobs. */
  places: number
  /** Does one job and measures it. At most `places` calls are open. */
  make(job: AnswerJob): Promise<Timed<Reply>>
  monotonicMs(): number
}>

/** Reply for a caller that has left. */
const NOBODY: Timed<Reply> = { value: { is: 'streamed' }, tookMs: 0 }

/**
 * Opens the answers that concurrent callers share. A caller waits in its own turn even for an answer in progress, so
 * that no caller waits behind another's queue. Each waiting caller is charged the whole cost; a cached answer is free.
 */
export function openSharedAnswers(settings: SharedAnswersSettings): SharedAnswers {
  const { cache, places, make, monotonicMs } = settings
  const turns = openFairPlaces(places, monotonicMs)
  const inProgress = new Map<string, Promise<Timed<Reply>>>()

  async function makeAndKeep(job: RequestJob): Promise<Timed<Reply>> {
    const before = cache.present(job.path)
    const made = await make(job)
    const reply = made.value
    if (isCacheable(reply)) {
      const present = reply.keep === 'immutable' ? null : cache.present(job.path)
      // If the log has grown meanwhile, the state of the answer is unknown.
      if (present === null || present === before) cache.set(job, reply, { present, reply })
    }
    return made
  }

  function share(job: RequestJob): Promise<Timed<Reply>> {
    const found = cache.find(job, job.acceptEncoding)?.reply ?? null
    if (found !== null) return Promise.resolve({ value: found, tookMs: 0 })
    const { path, target, ifNoneMatch = '', acceptEncoding } = job
    const key = `${cache.present(path)} ${ifNoneMatch} ${negotiate(acceptEncoding)} ${target}`
    const made = inProgress.get(key) ?? makeAndKeep(job).finally(() => inProgress.delete(key))
    inProgress.set(key, made)
    return made
  }

  return {
    async answer(caller, job, gone = () => false) {
      if (job.is === 'refusal') return turns.run(caller, async () => (gone() ? NOBODY : make(job)))
      const found = cache.find(job, job.acceptEncoding)?.reply ?? null
      return found ?? turns.run(caller, async () => (gone() ? NOBODY : share(job)))
    },
    waiting: turns.waiting,
  }
}

/** Whether a reply may be cached. An answer that varies by a further request header may not. */
export function isCacheable(reply: Reply): reply is CodedReply {
  return (
    reply.is === 'coded' &&
    reply.status === 200 &&
    reply.keep !== 'no-store' &&
    reply.headers?.['Vary'] === undefined
  )
}
