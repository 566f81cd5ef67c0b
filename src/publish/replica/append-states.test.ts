import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nextAppendState } from './append-states.ts'

/** Every transition. All other pairs of state and event are impossible. */
const TABLE = [
  ['idle', 'build', 'building'],
  ['building', 'nothing', 'idle'],
  ['building', 'offer', 'offered'],
  ['offered', 'kept', 'applied'],
  ['offered', 'doubt', 'unsettled'],
  ['unsettled', 'ours', 'applied'],
  ['unsettled', 'others', 'idle'],
  ['applied', 'answer', 'idle'],
  ['idle', 'stop', 'stopped'],
  ['building', 'stop', 'stopped'],
  ['offered', 'stop', 'stopped'],
  ['unsettled', 'stop', 'stopped'],
  ['applied', 'stop', 'stopped'],
  ['stopped', 'stop', 'stopped'],
] as const

suite('the message that a writer appends', () => {
  test('goes from state to state as the table says, and no other way', () => {
    const states = [...new Set(TABLE.map(([state]) => state))]
    const events = [...new Set(TABLE.map(([, event]) => event))]
    for (const state of states) {
      for (const event of events) {
        const next = TABLE.find(([from, by]) => from === state && by === event)?.[2]
        if (next === undefined) assert.throws(() => nextAppendState(state, event), /cannot/)
        else assert.equal(nextAppendState(state, event), next)
      }
    }
  })

  test('leaves no attempt without knowing the owner of its place', () => {
    const ways = TABLE.filter(([from]) => from === 'unsettled').map(([, event]) => event)
    assert.deepEqual(ways, ['ours', 'others', 'stop'])
  })
})
