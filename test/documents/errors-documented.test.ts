import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { keysOf } from '../../src/protocol/brand.ts'
import { PROBLEMS } from '../../src/protocol/problem.ts'
import { PROBLEM_CURES } from '../../src/serve/describe/problem-cures.ts'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'

const DOCUMENT = 'docs/errors.md'
/** Rewrites the list of the document. */
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

const rows = keysOf(PROBLEMS).map((code) => {
  const { meaning, cure } = PROBLEM_CURES[code]
  return `- \`${code}\` (${PROBLEMS[code].status}): ${meaning} *Cure:* ${cure}\n`
})

test('docs/errors.md lists every code with its status, its meaning and its cure', () => {
  const expected = textOf(DOCUMENT).replace(/(?:^- `[a-z-]+` \(.*\n)+/m, () => rows.join(''))
  assert.ok(expected.includes(rows.join('')), 'the document has a list')
  if (UPDATES) writeFileSync(join(ROOT, DOCUMENT), expected)
  else assert.equal(textOf(DOCUMENT), expected)
})
