import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { keysOf } from '../protocol/brand.ts'
import { STREAM_STATES, type StreamState } from './stream-state.ts'

const STATES = keysOf(STREAM_STATES)
const isOver = (state: StreamState): boolean => state === 'ended' || state === 'failed'

/** States that can be reached from a state, itself included. */
function reachedFrom(start: StreamState): ReadonlySet<StreamState> {
  const reached = new Set<StreamState>([start])
  // Iteration over a set includes members added on the way.
  for (const state of reached) for (const next of Object.values(STREAM_STATES[state])) reached.add(next)
  return reached
}

suite('the states of a stream', () => {
  test('define the next state for every state and signal', () => {
    for (const state of STATES) {
      assert.deepEqual(Object.keys(STREAM_STATES[state]), Object.keys(STREAM_STATES.connecting))
      for (const next of Object.values(STREAM_STATES[state])) assert.ok(STATES.includes(next), next)
    }
  })

  test('can all be reached', () => {
    assert.deepEqual([...reachedFrom('connecting')].toSorted(), STATES.toSorted())
  })

  test('lead back to live until a stream is over', () => {
    for (const state of STATES) assert.equal(reachedFrom(state).has('live'), !isOver(state), state)
  })

  test('are final once the reader or an error has ended the stream', () => {
    for (const state of STATES) {
      assert.equal(STREAM_STATES[state].stopped, state === 'failed' ? 'failed' : 'ended')
      assert.equal(STREAM_STATES[state].refused, state === 'ended' ? 'ended' : 'failed')
      if (isOver(state)) assert.deepEqual([...reachedFrom(state)], [state])
    }
  })

  test('leave a wait only when it is over', () => {
    for (const state of ['reconnecting', 'offline'] as const) {
      const { due, refused: _, stopped: __, ...others } = STREAM_STATES[state]
      assert.equal(due, 'connecting')
      assert.deepEqual(new Set(Object.values(others)), new Set([state]))
    }
  })
})
