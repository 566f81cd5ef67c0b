import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { FACTS, LINE_FIELDS, OPTIONAL_FIELDS } from '../../src/command/log-lines/facts.ts'
import {
  LINE_TEXT_CHARS_MAX,
  LINES_A_SECOND_MAX,
  WAITING_BYTES_MAX,
} from '../../src/command/log-lines/log-lines.ts'
import { PUBLICATION_LINE_MS } from '../../src/command/log-lines/node-lines.ts'
import { keysOf } from '../../src/protocol/brand.ts'
import { SLOW_ANSWER_MS } from '../../src/serve/request/request-path.ts'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { PRODUCT_SOURCES } from '../stage/source-tree.ts'

const DOCUMENT = 'docs/log-lines.md'
/** Rewrites both lists of the document from the table of the code. */
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

const isOptional = (field: string): boolean => OPTIONAL_FIELDS.some((one) => one === field)

/** Fields that each line with a `request` may have: the document says so once. */
const OF_REQUESTS: readonly string[] = ['traceparent', 'caller']

const factRows = keysOf(FACTS).map((name) => {
  const { level, message, fields } = FACTS[name]
  const named = fields
    .filter((field) => !message.includes(`{${field}}`) && !OF_REQUESTS.includes(field))
    .map((field) => `\`${field}\`${isOptional(field) ? '?' : ''}`)
  const also = named.length === 0 ? '' : `; also ${named.join(', ')}`
  return `- \`${name}\` (${level}): ${message.replaceAll(/\{\w+\}/g, '`$&`')}${also}`
})
const fieldRows = keysOf(LINE_FIELDS).map((name) => `- \`${name}\`: ${LINE_FIELDS[name]}`)

/** The text with these rows in the list under a heading. */
function withRows(text: string, heading: string, rows: readonly string[]): string {
  const [before = '', after = ''] = text.split(`\n## ${heading}\n`)
  return `${before}\n## ${heading}\n${after.replace(/(?:^- `.*\n)+/m, () => `${rows.join('\n')}\n`)}`
}

suite('the document of the log lines', () => {
  const written = textOf(DOCUMENT)
  const right = withRows(withRows(written, 'Facts', factRows), 'Fields', fieldRows)
  if (UPDATES) writeFileSync(join(ROOT, DOCUMENT), right)

  test('has a row for each fact and field of the code, and no other', () => {
    const [rows, rightRows] = [written, right].map((text) => text.split('\n'))
    const differing = rightRows?.filter((row) => !rows?.includes(row)) ?? []
    const foreign = rows?.filter((row) => !rightRows?.includes(row)) ?? []
    if (!UPDATES) assert.deepEqual({ differing, foreign }, { differing: [], foreign: [] })
  })

  test('names the limits of the code', () => {
    for (const limit of [
      `${LINES_A_SECOND_MAX} lines a second for each fact`,
      `${1_000 / PUBLICATION_LINE_MS} lines a second about publications`,
      `${WAITING_BYTES_MAX / 1024 / 1024} MiB waits for a reader`,
      `${LINE_TEXT_CHARS_MAX.toLocaleString('en')} characters a text`,
      `\`slow\` from ${SLOW_ANSWER_MS.toLocaleString('en')} ms on`,
    ]) {
      assert.ok(written.includes(limit), limit)
    }
  })

  test('has these limits in docs/limits.md too', () => {
    const limits = textOf('docs/limits.md')
    for (const limit of [
      `${LINES_A_SECOND_MAX} lines a second in a thread, and publications share ${1_000 / PUBLICATION_LINE_MS}.`,
      `${WAITING_BYTES_MAX / 1024 / 1024} MiB waits, and then lines`,
      `${LINE_TEXT_CHARS_MAX.toLocaleString('en')} characters at most`,
    ]) {
      assert.ok(limits.includes(limit), limit)
    }
  })
})

suite('the table of facts', () => {
  test('has only facts that some code says', () => {
    const code = PRODUCT_SOURCES.filter((path) => !path.endsWith('/facts.ts'))
      .map(textOf)
      .join('')
    assert.deepEqual(
      keysOf(FACTS).filter((name) => !code.includes(`'${name}'`)),
      [],
    )
  })

  test('has the fields that its facts name, and no other', () => {
    const named = keysOf(FACTS).flatMap((name) => FACTS[name].fields)
    assert.deepEqual([...new Set(named)].toSorted(), keysOf(LINE_FIELDS).toSorted())
  })

  test('is behind every line: one file has the library', () => {
    const users = PRODUCT_SOURCES.filter((path) => textOf(path).includes(`from 'pino'`))
    assert.deepEqual(users, ['src/command/log-lines/log-lines.ts'])
  })
})
