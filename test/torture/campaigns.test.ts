import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { CAMPAIGNS } from './campaigns.ts'

suite('each campaign', () => {
  test('is run by the file that its row names', () => {
    for (const [name, { file }] of Object.entries(CAMPAIGNS))
      assert.match(textOf(file), new RegExp(`(?:open|assert)Campaign\\([^)]*'${name}'`), name)
  })

  test('grows from tier to tier', () => {
    for (const [name, { sizes }] of Object.entries(CAMPAIGNS))
      assert.ok(sizes.quick <= sizes.hour && sizes.hour <= sizes.night && sizes.night > 0, name)
  })
})
