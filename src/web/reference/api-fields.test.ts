import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openapi } from '../../serve/describe/openapi.ts'
import type { ApiDocument } from '../frame/api-document.ts'
import { endpointsOf, mediaOf } from '../frame/api-document.ts'
import { fieldsOf, namedOf, sharedIn } from './api-fields.ts'

const document: ApiDocument = JSON.parse(JSON.stringify(openapi('0.0.1')))
const answers = endpointsOf(document).flatMap((one) =>
  mediaOf(one).flatMap(([, { schema = {} }]) => namedOf(schema) ?? []),
)
/** The schemas whose fields the reference tells. */
const told = [...new Set([...answers, ...sharedIn(document), 'Problem'])]

suite('a field of an answer', () => {
  test('has a type and a meaning, everywhere', () => {
    for (const name of told) {
      const fields = fieldsOf(name, document)
      assert.ok(fields.length > 0, name)
      for (const { name: field, form, of, meaning } of fields) {
        assert.ok((form ?? of) !== null && meaning !== '', `${name}.${field}`)
      }
    }
  })

  test('is named with all that it stands in', () => {
    const named = (schema: string): readonly string[] => fieldsOf(schema, document).map(({ name }) => name)
    assert.ok(named('Summary').includes('contests.upcoming'))
    assert.ok(named('Flows').includes('buckets[].spentOnPlay'))
    assert.ok(named('ContestLedger').includes('pool.in.*'))
    assert.ok(named('LoyaltyRuns').includes('runs[].input'))
  })

  test('that is a moment stands for both of its pair', () => {
    const [from, ...others] = fieldsOf('Flows', document).filter(({ name }) => name.startsWith('from'))
    assert.equal(from?.of, 'moment')
    assert.deepEqual(others, [])
  })

  test('that many answers share is told where they share it', () => {
    const asOf = fieldsOf('Flows', document).find(({ name }) => name === 'asOf')
    assert.equal(asOf?.of, 'AsOf')
    assert.ok(sharedIn(document).includes('AsOf') && sharedIn(document).includes('Event'))
    assert.equal(fieldsOf('ContestLedger', document).find(({ name }) => name === 'payouts[]')?.of, 'Event')
  })

  test('says its unit, and whether it may be null or missing', () => {
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
