import assert from 'node:assert/strict'
import { mock, suite, test } from 'node:test'
import { openWriterState } from './writer-state.ts'

suite('the state of a writer whose commit met a full disk', () => {
  /** Opens the state on a disk that is full as the test says, and the changes of its room that are told. */
  function open(disk: { isFull: boolean; probes: number }) {
    const told: unknown[] = []
    const tell = (...message: readonly unknown[]): void => void told.push(message)
    const isFull = (): boolean => {
      disk.probes += 1
      return disk.isFull
    }
    return { told, state: openWriterState('data', null, tell, isFull) }
  }

  test('accepts drafts again when a probe finds room', () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const disk = { isFull: true, probes: 0 }
    const { state, told } = open(disk)
    assert.equal(state.accepting(), true)
    state.full()
    state.full()
    mock.timers.tick(1_000)
    assert.equal(state.accepting(), false)
    disk.isFull = false
    mock.timers.tick(500)
    assert.equal(state.accepting(), true)
    mock.timers.tick(5_000)
    assert.equal(disk.probes, 3, 'one probe at a time, and none later')
    assert.deepEqual(told, [
      ['room', false],
      ['room', true],
    ])
    mock.timers.reset()
  })

  test('accepts drafts again at once when a commit succeeds', () => {
    const { state, told } = open({ isFull: true, probes: 0 })
    state.full()
    state.committed()
    assert.equal(state.accepting(), true)
    assert.equal(told.length, 2)
  })
})
