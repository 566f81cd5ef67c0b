import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openForkFiles, openKnownWriters } from './replica-files.ts'

const folder = (): string => mkdtempSync(join(tmpdir(), 'daybook-replica-'))

suite('the evidence of a fork', () => {
  test('is kept once, under the name of its message', () => {
    const path = join(folder(), 'evidence')
    openForkFiles(path).keep('000000000002-ours-0011223344556677.message', Buffer.from('ours'))
    openForkFiles(path).keep('000000000002-ours-0011223344556677.message', Buffer.from('ours'))
    assert.deepEqual(readdirSync(path), ['000000000002-ours-0011223344556677.message'])
    assert.equal(readFileSync(join(path, readdirSync(path)[0] ?? ''), 'utf8'), 'ours')
  })
})

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
})
