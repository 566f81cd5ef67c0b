import type { Problem } from '../../protocol/problem.ts'
import type { FrontMemory } from './front-memory.ts'

/** Seconds after which a caller may ask a node again that stops: by then another has its place, or it is back. */
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

/** Says why a thread answers nothing of the log at present; undefined when it does. */
export function openUnready(memory: FrontMemory): () => Problem | undefined {
  // Looked at for each request: the views are made once.
  const wrong = new Int32Array(memory.wrong)
  const stopping = new Int32Array(memory.stopping)
  return () => {
    if (Atomics.load(wrong, 0) === 1) return LOG_IS_WRONG
    return Atomics.load(stopping, 0) === 1 ? STOPPING : undefined
  }
}
