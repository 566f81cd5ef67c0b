import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { fileMeant, formatFileName, parseArchiveName } from './file-name.ts'

suite('a name in the archive', () => {
  test('is a file of a month, a manifest or SHA256SUMS', () => {
    assert.deepEqual(parseArchiveName('2026-10.jsonl.gz'), { is: 'file', month: '2026-10', file: 'events' })
    assert.deepEqual(parseArchiveName('2026-10.details.jsonl.gz'), {
      is: 'file',
      month: '2026-10',
      file: 'details',
    })
    assert.deepEqual(parseArchiveName('2026-10.json'), { is: 'manifest', month: '2026-10' })
    assert.deepEqual(parseArchiveName('SHA256SUMS'), { is: 'sums' })
  })

  test('of a month file is parsed as it is formatted', () => {
    const months = fc.tuple(fc.integer({ min: 1970, max: 9999 }), fc.integer({ min: 1, max: 12 }))
    fc.assert(
      fc.property(months, fc.constantFrom('events', 'details'), ([year, number], file) => {
        const month = `${year}-${String(number).padStart(2, '0')}`
        assert.deepEqual(parseArchiveName(formatFileName(month, file)), { is: 'file', month, file })
      }),
    )
  })

  test('that is misspelt means the nearest file of its month', () => {
    assert.equal(fileMeant('2026-7.jsonl.gz'), '2026-07.jsonl.gz')
    assert.equal(fileMeant('2026-07.csv'), '2026-07.jsonl.gz')
    assert.equal(fileMeant('2026-07'), '2026-07.jsonl.gz')
    assert.equal(fileMeant('202607.details.jsonl'), '2026-07.details.jsonl.gz')
    assert.equal(fileMeant('2026-7.json'), '2026-07.json')
    assert.equal(fileMeant('2026-13.json'), undefined)
    assert.equal(fileMeant('july'), undefined)
  })

  test('is undefined for any other text', () => {
    for (const name of [
      '',
      '2026-10',
      '2026-13.json',
      '1969-12.json',
      '2026-10.jsonl',
      '__proto__',
      '.json',
    ]) {
      assert.equal(parseArchiveName(name), undefined, name)
    }
    fc.assert(
      fc.property(fc.string(), (text) => parseArchiveName(text) === undefined || text === 'SHA256SUMS'),
    )
  })
})
