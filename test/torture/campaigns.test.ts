import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textOf } from '../stage/document.ts'
import { SOURCES } from '../stage/source-tree.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { LARGER_SAMPLES } from './larger-samples.ts'

suite('each campaign', () => {
  test('is run by the file that its row names', () => {
    for (const [name, { file }] of Object.entries(CAMPAIGNS))
      assert.match(textOf(file), new RegExp(`(?:open|assert)Campaign\\([^)]*'${name}'`), name)
  })

  test('of docs/reliability.md exists', () => {
    const [, told = ''] = /They cover the store(.*?)\n\n/s.exec(textOf('docs/reliability.md')) ?? []
    const names = [...told.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)
    assert.ok(names.length > 20, 'the names are found')
    assert.deepEqual(
      names.filter((name) => !Object.hasOwn(CAMPAIGNS, name)),
      [],
    )
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
