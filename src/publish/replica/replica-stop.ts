import { reasonOf } from '../../protocol/error-reason.ts'

/**
 * Cause for which a replica has stopped. It serves the head that it has, and signs nothing.
 *
 * - `fault`: a message does not continue the log, or this program cannot read it.
 * - `fork`: the engine, or another writer, has another message at a place that this node has served, or a message that
 *   continues another one.
 * - `lost`: the engine lost more messages than this node has kept.
 * - `local`: the disk or the program of this node failed.
 * - `ended`: the stream ended, and the log does not go on in the next one for this node.
 */
export type StopCause = Readonly<{
  is: 'fault' | 'fork' | 'lost' | 'local' | 'ended'
  place: number
  reason: string
}>

/** Cause for an error that nothing expects. */
export function programFault(place: number, error: unknown): StopCause {
  const reason = `the program of this node failed: ${reasonOf(error)}`
  return { is: 'local', place, reason }
}

/** Ends the work of a replica until an operator acts. */
export class ReplicaStopped extends Error {
  override readonly name = 'ReplicaStopped'
  readonly stop: StopCause

  constructor(stop: StopCause, cause?: unknown) {
    super(stop.reason, { cause })
    this.stop = stop
  }
}
