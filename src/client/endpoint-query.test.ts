import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../test/story/code-points.ts'
import { endpointPath, type QueryValues } from './endpoint-query.ts'

suite('the path of a request', () => {
  for (const [name, query, text] of [
    ['nothing', {}, ''],
    ['an undefined value', { at: undefined }, ''],
    ['a flag that is off', { nonzero: false }, ''],
    ['an empty list', { type: [] }, ''],
    ['a flag that is on', { nonzero: true }, '?nonzero=1'],
    ['a list', { type: ['play', 'burn'] }, '?type=play%2Cburn'],
    ['zero', { after: 0 }, '?after=0'],
    ['a date', { at: new Date(0) }, '?at=1970-01-01T00%3A00%3A00.000Z'],
    ['several', { after: 1, limit: 2 }, '?after=1&limit=2'],
  ] as const) {
    test(`encodes ${name}`, () => assert.equal(endpointPath('summary', '', query), `/api/v1/summary${text}`))
  }

  test('is decoded by a server to the same values for any text', () => {
    const texts = fc.string({ unit: codePoints, minLength: 1 })
    fc.assert(
      fc.property(texts, texts, (place, kind) => {
        const query: QueryValues = { kind }
        const url = new URL(endpointPath('event', place, query), 'https://daybook.test')
        assert.equal(url.searchParams.get('kind'), kind)
        assert.equal([...url.searchParams].length, 1)
        if (!/^\.{1,2}$/.test(place))
          assert.equal(url.pathname, `/api/v1/events/${encodeURIComponent(place)}`)
      }),
    )
  })
})
