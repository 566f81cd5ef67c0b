import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { ROOT } from '../stage/places.ts'
import { SOURCES } from '../stage/source-tree.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { LARGER_SAMPLES } from './larger-samples.ts'
import { listOf } from './run-torture.ts'

const DOCUMENT = 'docs/reliability.md'
const UPDATES = process.env['UPDATE_EXAMPLES'] === '1'

suite('each campaign', () => {
  test('is run by the file that its row names', () => {
    for (const [name, { file }] of Object.entries(CAMPAIGNS))
      assert.match(textOf(file), new RegExp(`(?:open|assert)Campaign\\([^)]*'${name}'`), name)
  })

  test('is in docs/reliability.md with its promise and sizes', () => {
    const text = textOf(DOCUMENT)
    const table = listOf(CAMPAIGNS)
    const whole = text.replace(/(?<=<!-- campaigns -->\n\n).*?(?=\n## )/s, () => table)
    assert.ok(whole.includes(table), 'the place of the table is found')
    if (UPDATES) writeFileSync(join(ROOT, DOCUMENT), whole)
    else assert.equal(text, whole, 'UPDATE_EXAMPLES=1 writes the table')
  })

  test('grows from tier to tier', () => {
    for (const [name, { sizes }] of Object.entries(CAMPAIGNS))
      assert.ok(sizes.quick <= sizes.hour && sizes.hour <= sizes.night && sizes.night > 0, name)
  })

  test('of larger samples runs every quick test whose sample the environment sets', () => {
    const quick = SOURCES.filter((path) => /(?<!\.slow)\.test\.ts$/.test(path))
    assert.deepEqual(
      quick.filter((path) => /process\.env\['DAYBOOK_CAMPAIGN'\]/.test(textOf(path))).toSorted(),
      Object.keys(LARGER_SAMPLES).toSorted(),
    )
  })
})
