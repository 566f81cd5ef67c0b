import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCsv } from '../http/csv.ts'

test('a table as CSV quotes commas, quotes and line ends (RFC 4180), and has no cell that is a formula', () => {
  const rows = [
    ['a,b', 'say "x"', 'two\r\nlines', null],
    ['=1+1', '@SUM(A1)', '-3.500000000', 7],
  ]
  const text = formatCsv({ columns: ['a', 'b', 'c', 'd'], rows, next: null })
  const [head, first, ...rest] = text.split('\r\n')
  assert.equal(head, 'a,b,c,d')
  assert.equal(`${first}\r\n${rest[0]}`, '"a,b","say ""x""","two\r\nlines",')
  const [formula = '', at = '', amount, count] = rest[1]?.split(',') ?? []
  for (const cell of [formula, at]) assert.doesNotMatch(cell, /^[=+@\t\r-]/)
  assert.ok(formula.includes('=1+1') && at.includes('@SUM(A1)'))
  assert.deepEqual([amount, count], ['-3.500000000', '7'])
  assert.ok(text.endsWith('7\r\n'))
})
