import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openapi } from '../../serve/describe/openapi.ts'
import { type ApiDocument, endpointsOf, mediaOf } from './api-document.ts'
import { fieldsOf, schemaName, sharedIn } from './api-fields.ts'

const document: ApiDocument = JSON.parse(JSON.stringify(openapi({ version: '0.0.1', licence: null })))
const answers = endpointsOf(document).flatMap((one) =>
  mediaOf(one).flatMap(([, { schema = {} }]) => schemaName(schema) ?? []),
)
/** Schemas whose fields the reference shows. */
const told = [...new Set([...answers, ...sharedIn(document), 'Problem'])]

suite('a field of an answer', () => {
  test('always has a type and a meaning', () => {
    for (const name of told) {
      const fields = fieldsOf(name, document)
      assert.ok(fields.length > 0, name)
      for (const { name: field, form, of, meaning } of fields) {
        assert.ok((form ?? of) !== null && meaning !== '', `${name}.${field}`)
      }
    }
  })

  test('is named with its whole path', () => {
    const named = (schema: string): readonly string[] => fieldsOf(schema, document).map(({ name }) => name)
    assert.ok(named('Summary').includes('contests.upcoming'))
    assert.ok(named('Flows').includes('buckets[].spentOnPlay'))
    assert.ok(named('ContestLedger').includes('pool.in.*'))
    assert.ok(named('LoyaltyRuns').includes('runs[].input'))
  })

  test('that is a moment has one row for both fields', () => {
    const [from, ...others] = fieldsOf('Flows', document).filter(({ name }) => name.startsWith('from'))
    assert.equal(from?.of, 'moment')
    assert.deepEqual(others, [])
  })

  test('that many answers share is described once', () => {
    const asOf = fieldsOf('Flows', document).find(({ name }) => name === 'asOf')
    assert.equal(asOf?.of, 'AsOf')
    assert.ok(sharedIn(document).includes('AsOf') && sharedIn(document).includes('Event'))
    assert.equal(fieldsOf('ContestLedger', document).find(({ name }) => name === 'payouts[]')?.of, 'Event')
  })

  test('shows its unit, and whether it may be null or missing', () => {
    const field = (schema: string, name: string): ReturnType<typeof fieldsOf>[number] | undefined =>
      fieldsOf(schema, document).find((one) => one.name === name)
    assert.equal(field('ArchiveIndex', 'months[].bytes')?.unit, 'bytes')
    assert.equal(field('ArchiveIndex', 'months[].bytes')?.nullable, true)
    assert.equal(field('Summary', 'burned')?.of, 'amount')
    assert.equal(field('Summary', 'tokenPriceUsd')?.of, 'price')
    assert.equal(field('Problem', 'maxDays')?.optional, true)
    assert.equal(field('EventDetails', 'details.*')?.nullable, false)
  })
})
