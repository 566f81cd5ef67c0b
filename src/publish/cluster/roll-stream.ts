import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { MESSAGE_VERSION } from '../../log/message/message.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { CommitEnd } from '../commits/commit-path.ts'
import type { WriterMark } from '../marks/writer-mark.ts'
import type { StepParts } from './commit-step.ts'
import { commitStep, stepRefused, writersRefusal } from './commit-step.ts'
import { ENDED } from '../stream/ended-stream.ts'
import type { OperatorStep } from '../book/operator-step.ts'

type RollParts = StepParts &
  Readonly<{
    connect(stream: number): Promise<EngineConnection>
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
    const refusal =
      writersRefusal(parts, lacksFrames) ?? (await nextRefusal(parts, book.applied().stream + 1))
    if (refusal !== null) return stepRefused(refusal)
    const sealed = await step(parts, { is: 'seal', why: 'roll' })
    if (sealed.is === 'failed') return sealed.outcome
  }
  return await begin(parts)
}

function lacksFrames({ frames }: WriterMark): string | null {
  return frames.includes(MESSAGE_VERSION) ? null : 'reads no such messages: upgrade it'
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
    if (why === 'back' || why === 'adopt') return stepRefused(ENDED[why])
    if (book.applied().place > 0)
      return { ok: true, stream: book.applied().stream, head: book.appender.head().seq }
    const begun = await step(parts, { is: 'genesis' })
    if (begun.is === 'failed' && monotonicMs() > endMs) return begun.outcome
    if (begun.is === 'failed') await sleep(BEGIN_AGAIN_MS, signal)
  }
}

/** Commits the seal or the genesis, unless another writer has done so in the meantime. */
function step(
  parts: RollParts,
  wanted: Extract<OperatorStep, { is: 'seal' | 'genesis' }>,
): Promise<CommitEnd<void>> {
  const { book } = parts
  const { stream } = book.applied()
  const build = (): void => {
    const at = book.applied()
    if (at.stream === stream && at.place > 0 === (wanted.is === 'seal')) book.build(wanted)
  }
  return commitStep(parts, build, true)
}
