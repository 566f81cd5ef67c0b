import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { assertTestExists, namedTests } from './named-tests.ts'

const CLASSES = [
  'Spoofing',
  'Tampering',
  'Repudiation',
  'Information disclosure',
  'Denial of service',
  'Elevation of privilege',
]

suite('docs/threats.md', () => {
  const text = textOf('docs/threats.md')
  const sections = text.split(/^## /m).slice(1)
  const classes = sections.filter((section) => section.includes('| Threat | Control | Tests |'))

  test('has a table for each of the six kinds of threats', () => {
    assert.deepEqual(
      classes.map((section) => section.slice(0, section.indexOf(':'))),
      CLASSES,
    )
    for (const section of classes) assert.ok(rowsOf(section).length >= 5, section.slice(0, 20))
  })

  test('has a control and a test for each threat', () => {
    for (const cells of sections.flatMap(rowsOf)) {
      assert.ok(
        cells.every((cell) => cell !== ''),
        cells.join(' | '),
      )
      // A cell with anything but named tests would hide one that nobody checks.
      const rest = (cells.at(-1) ?? '').replaceAll(/`[\w./-]+\.ts`: "[^"]+"/g, '')
      assert.match(rest, /^(?:, )*$/, cells.join(' | '))
      assert.notEqual(namedTests(cells.at(-1) ?? '').length, 0, cells.join(' | '))
    }
  })

  test('names only tests that exist', () => {
    const named = namedTests(text)
    assert.ok(named.length > 50, 'the tests are found')
    for (const one of named) assertTestExists(one)
  })
})

/** Cells of each row of a section's table, without its head. */
function rowsOf(section: string): readonly (readonly string[])[] {
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}
