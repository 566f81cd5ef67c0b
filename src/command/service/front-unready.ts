import type { Problem } from '../../protocol/problem.ts'
import type { FrontMemory } from './front-memory.ts'

/** Seconds after which a caller may retry on a node that stops: by then it is back, or another node has taken over. */
const STOPPING_RETRY_SECONDS = 5

const LOG_IS_WRONG: Problem = {
  code: 'not-ready',
  detail: 'This node has found its copy of the log to be wrong, and shows nothing of it.',
}

const STOPPING: Problem = {
  code: 'not-ready',
  detail: 'This node is stopping. Ask again in a moment, on another connection.',
  retryAfterSeconds: STOPPING_RETRY_SECONDS,
}

/** Opens the check why a thread may show nothing of the log now; undefined means that it may. */
export function openUnready(memory: FrontMemory): () => Problem | undefined {
  // Checked at each request, so the views are made once.
  const wrong = new Int32Array(memory.wrong)
  const stopping = new Int32Array(memory.stopping)
  return () => {
    if (Atomics.load(wrong, 0) === 1) return LOG_IS_WRONG
    return Atomics.load(stopping, 0) === 1 ? STOPPING : undefined
  }
}
