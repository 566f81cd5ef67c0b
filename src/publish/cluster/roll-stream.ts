import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { MESSAGE_VERSION } from '../../log/message/message.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { CommitEnd, CommitPath } from '../commits/commit-path.ts'
import { AWAY_MS } from '../replica/other-writers.ts'
import type { ReplicaState } from '../replica/replica.ts'
import type { OperatorStep } from '../book/operator-step.ts'
import type { StoreBook } from '../book/store-book.ts'
import { ENDED } from './ended-stream.ts'

type RollParts = Readonly<{
  book: StoreBook
  path: CommitPath
  connect(stream: number): Promise<EngineConnection>
  state(): ReplicaState | null
  monotonicMs(): number
  /** Waits, or rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  /** Aborted when the node stops. */
  signal: AbortSignal
}>

/** The stream in which the log goes on, and its newest seq then. */
type RolledStream = Readonly<{ ok: true; stream: number; head: number }>

/** Longest wait until the next stream is open here, and time between two attempts: other writers are heard first. */
const BEGIN_MS_MAX = 30_000
const BEGIN_AGAIN_MS = 200

/**
 * Ends the stream with a seal, and begins the next one, which must exist and be empty. All nodes go on there by
 * themselves. A call that was interrupted after the seal is completed by the next one. Refuses when a writer that was
 * heard of is not ready.
 */
export async function rollStream(parts: RollParts): Promise<RolledStream | FailedOutcome> {
  const { book } = parts
  if (book.applied().place > 0) {
    const refusal = writersRefusal(parts) ?? (await nextRefusal(parts, book.applied().stream + 1))
    if (refusal !== null) return refused(refusal)
    const sealed = await step(parts, { is: 'seal', why: 'roll' })
    if (sealed.is === 'failed') return sealed.outcome
  }
  return await begin(parts)
}

/** Reason why the writers are not ready for another stream; null when they are. */
function writersRefusal({ book, state, monotonicMs }: RollParts): string | null {
  const known = state()
  if (known === null || !known.isHeard) return 'this node has not heard the other writers yet: try again'
  const [silent] = known.silent
  if (silent !== undefined)
    return `the writer ${silent} is silent: start it, or delete its line from the file writers of each node`
  for (const { mark, atMs } of known.marks) {
    const { node, stream, stopped, frames } = mark
    if (monotonicMs() - atMs > AWAY_MS) return `the writer ${node} is silent: start it`
    if (stopped !== null) return `the writer ${node} has stopped: mend it first`
    if (stream !== book.applied().stream) return `the writer ${node} is in stream ${stream}: wait for it`
    if (!frames.includes(MESSAGE_VERSION)) return `the writer ${node} reads no such messages: upgrade it`
  }
  return null
}

/** Reason why the log cannot go on in a stream; null when it can. */
async function nextRefusal({ connect }: RollParts, stream: number): Promise<string | null> {
  try {
    await using connection = await connect(stream)
    const [complaint] = await connection.inspect()
    if (complaint !== undefined) return `stream ${stream} is not ready: ${complaint}`
    if ((await connection.log.last()) > 0) return `stream ${stream} has messages already`
    return null
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return `stream ${stream} is not ready: ${error.message}`
  }
}

/** Begins the stream that the books are in, unless another writer has. */
async function begin(parts: RollParts): Promise<RolledStream | FailedOutcome> {
  const { book, monotonicMs, sleep, signal } = parts
  const endMs = monotonicMs() + BEGIN_MS_MAX
  for (;;) {
    const why = book.sealed()
    if (why === 'back' || why === 'adopt') return refused(ENDED[why])
    if (book.applied().place > 0)
      return { ok: true, stream: book.applied().stream, head: book.appender.head().seq }
    const begun = await step(parts, { is: 'genesis' })
    if (begun.is === 'failed' && monotonicMs() > endMs) return begun.outcome
    if (begun.is === 'failed') await sleep(BEGIN_AGAIN_MS, signal)
  }
}

/** Commits a step of the operator. One that another writer has made in the meantime changes nothing. */
function step(
  { book, path }: RollParts,
  wanted: Extract<OperatorStep, { is: 'seal' | 'genesis' }>,
): Promise<CommitEnd<void>> {
  const { stream } = book.applied()
  return new Promise((resolve) => {
    path.commit(
      {
        drafts: 0,
        begins: true,
        build() {
          const at = book.applied()
          if (at.stream === stream && at.place > 0 === (wanted.is === 'seal')) book.build(wanted)
        },
        durable: () => undefined,
        undone: () => undefined,
      },
      resolve,
    )
  })
}

function refused(reason: string): FailedOutcome {
  return { ok: false, code: 'wrong-state', index: null, field: null, reason }
}
