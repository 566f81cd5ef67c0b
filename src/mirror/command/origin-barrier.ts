import { setTimeout as sleep } from 'node:timers/promises'
import { readBytes } from '../../client/body.ts'
import { SECOND_MS } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import { openBarrierCell } from '../../serve/following/barrier-cell.ts'

/** Milliseconds between two requests to the origin, however many callers ask. */
const PACE_MS = 3 * SECOND_MS
/** Timeout of the origin, which may ask an origin of its own. */
const ANSWER_MS_MAX = 8 * SECOND_MS

/** Most bytes of its refusal, after any content coding. */
const ANSWER_BYTES_MAX: number = 64 * 1024

/** Origin that is asked for the head of the log. */
type AskedOrigin = Readonly<{
  url: string
  /** Log id that its answer must have. */
  log: string
  /** Whether the mirror still follows. */
  follows(): boolean
}>

/**
 * Answers the questions of all threads for the head of the whole log, until the signal aborts. The origin refuses a
 * cursor beyond every log, and its refusal has the head. If the origin is a mirror, that is the head of the whole log
 * too.
 */
export async function askOriginForHead(
  buffer: SharedArrayBuffer,
  origin: AskedOrigin,
  signal: AbortSignal,
): Promise<void> {
  const cell = openBarrierCell(buffer)
  while (!signal.aborted) {
    await cell.asked()
    const begun = cell.begin()
    if (begun === undefined) continue
    cell.answer(begun, origin.follows() ? await askHead(origin, signal) : null)
    await sleep(PACE_MS, undefined, { signal }).catch(() => undefined)
  }
}

const QUESTION = `${ENDPOINT_PATHS.events}?after=${SEQ_MAX}&limit=1`

/** Head of the whole log; null when the origin does not tell. */
async function askHead({ url, log }: AskedOrigin, stopped: AbortSignal): Promise<Seq | null> {
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(ANSWER_MS_MAX)])
    const answer = await fetch(`${url}${QUESTION}`, { redirect: 'error', signal })
    if (answer.body === null) return null
    const body = await readBytes(answer.body, ANSWER_BYTES_MAX)
    const problem: unknown = JSON.parse(new TextDecoder().decode(body))
    if (answer.headers.get('daybook-log') !== log || typeof problem !== 'object' || problem === null)
      return null
    if (!('code' in problem && problem.code === 'cursor-ahead' && 'head' in problem)) return null
    return typeof problem.head === 'number' ? seqOf(problem.head) : null
  } catch {
    // The origin is unreachable, or another service answers. The mirror's own following reports that.
    return null
  }
}
