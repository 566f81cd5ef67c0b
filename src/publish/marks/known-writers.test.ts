import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openKnownWriters } from './known-writers.ts'

const folder = (): string => mkdtempSync(join(tmpdir(), 'daybook-replica-'))

suite('the known writers', () => {
  test('are remembered over a restart, until an operator deletes them', () => {
    const path = join(folder(), 'writers')
    const first = openKnownWriters(path)
    assert.deepEqual(first.names(), [])
    first.add('A')
    first.add('B')
    assert.deepEqual(openKnownWriters(path).names(), ['A', 'B'])
    writeFileSync(path, 'B\n')
    assert.deepEqual(openKnownWriters(path).names(), ['B'])
  })
  test('are those of the file also while a node runs, and a deleted one does not come back with the next', () => {
    const path = join(folder(), 'writers')
    const running = openKnownWriters(path)
    for (const name of ['B', 'C']) running.add(name)
    writeFileSync(path, 'B\n')
    assert.deepEqual(running.names(), ['B'])
    running.add('D')
    assert.deepEqual(openKnownWriters(path).names(), ['B', 'D'])
  })
})
