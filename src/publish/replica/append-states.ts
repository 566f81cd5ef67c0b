import { assert } from '../../protocol/brand.ts'

/**
 * State of the one message that a writer appends at a time.
 *
 * - `idle`: no message.
 * - `building`: the transaction is open, and drafts are admitted.
 * - `offered`: the transaction is open, and one attempt to append is under way.
 * - `unsettled`: the transaction is rolled back. The bytes are kept until the owner of their place has been read.
 * - `applied`: the message is in the log and in the books of this node. Its publishers get their answers.
 * - `stopped`: an operator must act. The old head is served, and nothing is signed.
 */
export type AppendState = 'idle' | 'building' | 'offered' | 'unsettled' | 'applied' | 'stopped'

/**
 * - `build`: a transaction begins.
 * - `nothing`: what was built changes nothing, or failed.
 * - `offer`: the message is sent to its place.
 * - `kept`: the engine said `appended`, and the local commit succeeded.
 * - `doubt`: any other end of the attempt: `taken`, `unknown`, or a local commit that failed.
 * - `ours`, `others`: the owner of the place was read and applied.
 * - `answer`: the publishers were answered.
 * - `stop`: something is wrong with the log or with this node.
 */
type AppendEvent = 'build' | 'nothing' | 'offer' | 'kept' | 'doubt' | 'ours' | 'others' | 'answer' | 'stop'

const NONE = {
  build: null,
  nothing: null,
  offer: null,
  kept: null,
  doubt: null,
  ours: null,
  others: null,
  answer: null,
  stop: null,
} as const

/** The next state for each state and event. Null marks an event that cannot happen in that state. */
const TRANSITIONS: Readonly<Record<AppendState, Readonly<Record<AppendEvent, AppendState | null>>>> = {
  idle: { ...NONE, stop: 'stopped', build: 'building' },
  building: { ...NONE, stop: 'stopped', nothing: 'idle', offer: 'offered' },
  offered: { ...NONE, stop: 'stopped', kept: 'applied', doubt: 'unsettled' },
  unsettled: { ...NONE, stop: 'stopped', ours: 'applied', others: 'idle' },
  applied: { ...NONE, stop: 'stopped', answer: 'idle' },
  stopped: { ...NONE, stop: 'stopped' },
}

export function nextAppendState(state: AppendState, event: AppendEvent): AppendState {
  const next = TRANSITIONS[state][event]
  assert(next !== null, `a message that is ${state} cannot ${event}`)
  return next
}
