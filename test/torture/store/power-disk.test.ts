import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { randomOf } from '../../../sim/random.ts'
import { type CutState, digestOfState, drawCut, openPowerDisk, type RecordedCall } from './power-disk.ts'

const DRAWS = 3_000

/** Calls in short: the call, its path and target, and the text of a write or the size of a truncation. */
type Sketch = readonly [call: string, path: string, content?: string, offset?: number]

function callOf([call, path, content = '', offset = 0]: Sketch): RecordedCall {
  const isNamed = call === 'rename' || call === 'link'
  return { call, path, offset, target: isNamed ? content : '', bytes: Buffer.from(isNamed ? '' : content) }
}

/** All states that a power cut after these calls can leave. Each is `path=content`, in order. */
function statesAfter(...sketches: readonly Sketch[]): readonly string[] {
  const disk = openPowerDisk()
  for (const sketch of sketches) disk.apply(callOf(sketch))
  const random = randomOf('states')
  const drawn = new Map<string, CutState>()
  for (let draw = 0; draw < DRAWS; draw += 1) {
    const state = drawCut(disk, random)
    drawn.set(digestOfState(state), state)
  }
  return [...drawn.values()].map(textOf).toSorted()
}

function textOf(state: CutState): string {
  const files = [...state].flatMap(([path, content]) =>
    content === 'folder'
      ? []
      : [
          `${path}=${Buffer.from(content)
            .toString()
            .replaceAll(/(.)\1{9,}/gs, '$1…')}`,
        ],
  )
  return files.join(' ')
}

/** A durable file. */
const old: readonly Sketch[] = [
  ['create', 'a'],
  ['pwrite', 'a', 'old'],
  ['fsync', 'a'],
  ['fsync', '.'],
]

suite('a disk after a power cut', () => {
  test('may have a new file, an empty one, or none', () => {
    assert.deepEqual(statesAfter(['create', 'a'], ['pwrite', 'a', 'new']), ['', 'a=', 'a=\0\0\0', 'a=new'])
  })

  test('has the content of a synced file, if it has its name', () => {
    const synced: readonly Sketch[] = [
      ['create', 'a'],
      ['pwrite', 'a', 'new'],
      ['fsync', 'a'],
    ]
    assert.deepEqual(statesAfter(...synced), ['', 'a=new'])
    assert.deepEqual(statesAfter(...synced, ['fsync', '.']), ['a=new'])
  })

  test('has the names of a synced folder, not the content of its files', () => {
    const states = statesAfter(['create', 'a'], ['pwrite', 'a', 'new'], ['fsync', '.'])
    assert.deepEqual(states, ['a=', 'a=\0\0\0', 'a=new'])
  })

  test('has nothing of a folder whose own name is lost', () => {
    const states = statesAfter(['mkdir', 'd'], ['create', 'd/a'], ['fsync', 'd/a'], ['fsync', 'd'])
    assert.deepEqual(states, ['', 'd/a='])
  })

  test('has the old file or the new one under a name after a rename', () => {
    const made: readonly Sketch[] = [
      ['create', 'b'],
      ['pwrite', 'b', 'new'],
      ['fsync', 'b'],
    ]
    assert.deepEqual(statesAfter(...old, ...made, ['rename', 'b', 'a']), ['a=new', 'a=old', 'a=old b=new'])
    assert.deepEqual(statesAfter(...old, ...made, ['rename', 'b', 'a'], ['fsync', '.']), ['a=new'])
  })

  test('may have an empty file after a rename of a file that was not synced', () => {
    const states = statesAfter(...old, ['create', 'b'], ['pwrite', 'b', 'new'], ['rename', 'b', 'a'])
    assert.ok(states.includes('a='))
  })

  test('may have later writes without earlier ones, and a part of one', () => {
    const [first, second] = ['1'.repeat(512), '2'.repeat(1_024)]
    const zeros: readonly Sketch[] = [
      ['create', 'a'],
      ['pwrite', 'a', '0'.repeat(1_536)],
      ['fsync', 'a'],
      ['fsync', '.'],
    ]
    const states = statesAfter(...zeros, ['pwrite', 'a', first], ['pwrite', 'a', second, 512])
    assert.deepEqual(
      states,
      ['a=0…', 'a=0…2…', 'a=0…2…0…', 'a=0…2…', 'a=1…0…', 'a=1…0…2…', 'a=1…2…', 'a=1…2…0…'].toSorted(),
    )
  })

  test('never has a write without an earlier one to the same sector', () => {
    const states = statesAfter(...old, ['pwrite', 'a', 'A'], ['pwrite', 'a', 'B', 1])
    assert.deepEqual(states, ['a=ABd', 'a=Ald', 'a=old'])
  })

  test('never shows again what a truncation freed', () => {
    const states = statesAfter(...old, ['ftruncate', 'a'], ['pwrite', 'a', 'X', 2])
    assert.deepEqual(states, ['a=', 'a=\0\0X', 'a=\0\0\0', 'a=old'].toSorted())
  })
})
