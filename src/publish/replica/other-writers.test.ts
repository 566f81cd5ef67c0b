import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openOtherWriters } from './other-writers.ts'
import type { WriterMark } from './writer-mark.ts'

const MARK: WriterMark = {
  v: 1,
  node: 'B',
  run: 'B 1',
  logId: 'log',
  stream: 1,
  place: 12,
  digest: '',
  seq: 0,
  root: '',
  program: '',
  frames: [1],
  keys: [],
  leads: null,
  asks: false,
  contends: false,
  stopped: null,
}

function openWriters() {
  const names: string[] = []
  const time = { ms: 0 }
  const clock = {
    now: () => time.ms,
    pause: async () => undefined,
    within: async <A>(_: number, answer: Promise<A>) => answer,
  }
  const known = { names: () => names, add: (name: string) => void names.push(name) }
  return {
    names,
    time,
    writers: openOtherWriters({ node: 'A', run: 'A 2', logId: 'log', stream: 1 }, known, clock),
  }
}

suite('the other writers', () => {
  test('are remembered by name, without this node and without the writers of other logs', () => {
    const { names, writers } = openWriters()
    assert.equal(writers.hear(MARK), true)
    assert.equal(writers.hear(MARK), true)
    assert.equal(writers.hear({ ...MARK, node: 'A', run: 'A 2' }), false, 'its own mark')
    assert.equal(writers.hear({ ...MARK, node: 'X', logId: 'other' }), false)
    writers.hear({ ...MARK, node: 'A', run: 'A 1' })
    assert.deepEqual(names, ['B'])
  })

  test('count as far as their marks of the last 10 seconds and of the same stream say', () => {
    const { time, writers } = openWriters()
    writers.hear(MARK)
    writers.hear({ ...MARK, node: 'C', run: 'C 1', place: 20, stream: 2 })
    assert.equal(writers.farthest(), 12)
    time.ms = 10_000
    assert.equal(writers.farthest(), 0)
    assert.deepEqual(writers.silentSince(1), ['B', 'C'])
  })

  test('are 32 at most', () => {
    const { names, writers } = openWriters()
    for (let index = 0; index < 40; index += 1)
      writers.hear({ ...MARK, node: `node ${index}`, run: `${index}` })
    assert.equal(names.length, 32)
  })
})
