import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLines } from './log-lines.ts'
import { openPlainOutput } from './start-lines.ts'

test('plain text of a command becomes a log line for each of its lines, also when it comes in pieces', () => {
  const written: unknown[] = []
  const lines = openLines(
    (_name, { words }) => written.push(words),
    () => 0,
  )
  const output = openPlainOutput(lines)
  output.write('one\ntw')
  output.write('o\n\n')
  output.end('three')
  assert.deepEqual(written, ['one', 'two', 'three'])
})
