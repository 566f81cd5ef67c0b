import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import { formatAt, MS_MAX, msOf } from '../../protocol/moment.ts'
import { parseQuery } from './query.ts'

const TABLE = endpointOf('flows').parameters

function timeIn(raw: string): string {
  const query = parseQuery(`from=${raw}`, TABLE)
  assert.ok(query.ok, `${raw}: ${query.ok ? '' : query.problem.detail}`)
  const ms = query.value.time('from')
  assert.ok(ms !== undefined)
  return formatAt(ms)
}

function faultOf(text: string): string {
  const query = parseQuery(`from=${encodeURIComponent(text)}`, TABLE)
  assert.ok(!query.ok, `${text} is refused`)
  assert.equal(query.problem.code, 'invalid-parameter')
  assert.equal(query.problem.errors?.[0]?.message, query.problem.detail)
  return query.problem.detail
}

/** Raw forms in which programs send a text: percent-encoded, as a form encodes it, and as it is. */
function sentForms(text: string): readonly string[] {
  const form = new URLSearchParams({ from: text }).toString().replace('from=', '')
  return [encodeURIComponent(text), form, text.replaceAll(' ', '%20'), text.replaceAll(' ', '+')]
}

suite('a time in a query is accepted as it is printed by', () => {
  const tools: readonly (readonly [tool: string, text: string, at: string])[] = [
    ['Python isoformat()', '2026-10-01T12:00:00.123456+00:00', '2026-10-01T12:00:00.123Z'],
    ['Python isoformat() without microseconds', '2026-10-01T12:00:00+00:00', '2026-10-01T12:00:00.000Z'],
    ['Python str()', '2026-10-01 12:00:00.123456+00:00', '2026-10-01T12:00:00.123Z'],
    ['Python strftime %z', '2026-10-01T12:00:00+0000', '2026-10-01T12:00:00.000Z'],
    ['date -Iseconds', '2026-10-01T12:00:00+00:00', '2026-10-01T12:00:00.000Z'],
    ['date -Iminutes', '2026-10-01T12:00+00:00', '2026-10-01T12:00:00.000Z'],
    ['date -Ins', '2026-10-01T12:00:00,123456789+00:00', '2026-10-01T12:00:00.123Z'],
    ['date --rfc-3339=ns', '2026-10-01 12:00:00.123456789+00:00', '2026-10-01T12:00:00.123Z'],
    ['Go RFC3339', '2026-10-01T12:00:00Z', '2026-10-01T12:00:00.000Z'],
    ['Go RFC3339Nano', '2026-10-01T12:00:00.123456789Z', '2026-10-01T12:00:00.123Z'],
    ['Java Instant', '2026-10-01T12:00:00.123456Z', '2026-10-01T12:00:00.123Z'],
    ['Java OffsetDateTime', '2026-10-01T12:00Z', '2026-10-01T12:00:00.000Z'],
    ['Java OffsetDateTime with nanoseconds', '2026-10-01T12:00:00.000000001Z', '2026-10-01T12:00:00.000Z'],
    ['Rust chrono to_rfc3339', '2026-10-01T12:00:00.123456789+00:00', '2026-10-01T12:00:00.123Z'],
    ['PostgreSQL', '2026-10-01 12:00:00+00', '2026-10-01T12:00:00.000Z'],
    ['PostgreSQL with microseconds', '2026-10-01 12:00:00.123456+00', '2026-10-01T12:00:00.123Z'],
    ['JavaScript toISOString()', '2026-10-01T12:00:00.123Z', '2026-10-01T12:00:00.123Z'],
    ['RFC 3339 of an unknown local zone', '2026-10-01T12:00:00-00:00', '2026-10-01T12:00:00.000Z'],
    ['people: a month', '2026-10', '2026-10-01T00:00:00.000Z'],
    ['people: a day', '2026-10-01', '2026-10-01T00:00:00.000Z'],
    ['Date.now()', '1790856000123', '2026-10-01T12:00:00.123Z'],
    ['the beginning of time', '0', '1970-01-01T00:00:00.000Z'],
  ]
  for (const [tool, text, at] of tools) {
    test(tool, () => {
      for (const raw of sentForms(text)) assert.equal(timeIn(raw), at, raw)
    })
  }
})

suite('a time in a query', () => {
  test('is cut off after milliseconds, and never rounded', () => {
    assert.equal(timeIn(`2026-10-01T12:00:00.${'9'.repeat(3000)}Z`), '2026-10-01T12:00:00.999Z')
    assert.equal(timeIn('2026-10-01T12:00:00.1Z'), '2026-10-01T12:00:00.100Z')
  })

  test('of any moment is accepted with any writing of UTC', () => {
    const writings = fc.constantFrom('Z', '+00', '+00:00', '+0000', '-00', '-00:00', '-0000', ' 00', ' 00:00')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MS_MAX }), writings, fc.constantFrom('T', ' '), (ms, zone, t) => {
        const at = formatAt(msOf(ms))
        assert.equal(timeIn(encodeURIComponent(at.replace('Z', zone).replace('T', t))), at)
      }),
    )
  })

  test('is repeated by a link as it was sent, or as its moment when it needs encoding', () => {
    for (const [raw, again] of [
      ['2026-10', '2026-10'],
      ['1790856000123', '1790856000123'],
      ['2026-10-01T12:00:00Z', '2026-10-01T12:00:00Z'],
      ['2026-10-01T12:00:00%2B00:00', '2026-10-01T12:00:00.000Z'],
      ['2026-10-01+12:00:00.5+00', '2026-10-01T12:00:00.500Z'],
      ['2026-10-01T12:00:00.123456789Z', '2026-10-01T12:00:00.123Z'],
    ] as const) {
      const query = parseQuery(`from=${raw}`, TABLE)
      assert.equal(query.ok && query.value.format(), `?from=${again}`)
    }
  })

  test('in seconds is refused with a question', () => {
    for (const text of ['1', '1790000000', '99999999999'])
      assert.match(faultOf(text), /did you mean milliseconds\?/)
    assert.equal(timeIn('100000000000'), '1973-03-03T09:46:40.000Z')
  })

  test('with another offset is refused with the same moment in UTC', () => {
    for (const [text, at] of [
      ['2026-10-01T12:00:00+02:00', '2026-10-01T10:00:00.000Z'],
      ['2026-10-01T12:00:00 02:00', '2026-10-01T10:00:00.000Z'],
      ['2026-10-01T12:00:00.123456-05:30', '2026-10-01T17:30:00.123Z'],
      ['2026-10-01 12:00:00-05', '2026-10-01T17:00:00.000Z'],
      ['2026-10-01T00:30+0100', '2026-09-30T23:30:00.000Z'],
    ] as const) {
      assert.equal(
        faultOf(text),
        `\`from\` must be in UTC, and has another offset: give the same moment as ${at}.`,
      )
      assert.equal(timeIn(at), at)
    }
  })

  const refused: readonly (readonly [text: string, fault: RegExp])[] = [
    ['2026-10-01T12:00:00', /has no time zone: end it with Z/],
    ['2026-10-01 12:00', /has no time zone/],
    ['2026-02-30', /does not exist/],
    ['2026-02-29T00:00Z', /does not exist/],
    ['2026-13', /does not exist/],
    ['2026-00', /does not exist/],
    ['2026-10-01T24:00Z', /does not exist/],
    ['2026-10-01T12:60Z', /does not exist/],
    ['2026-10-01T12:00:60Z', /does not exist/],
    ['2026-10-01T12:00:00+24:00', /time zone that does not exist/],
    ['2026-10-01T12:00:00+02:75', /time zone that does not exist/],
    ['1969-12-31', /from 1970 to 9999/],
    ['1970-01-01T00:30+01:00', /from 1970 to 9999/],
    ['9999-12-31T23:59:59-01:00', /from 1970 to 9999/],
    ['253402300800000', /from 1970 to 9999/],
    ['9'.repeat(400), /from 1970 to 9999/],
    ['1e12', /without a sign, an exponent or decimals/],
    ['+1790000000000', /without a sign/],
    [' 1790000000000', /without a sign/],
    ['-1', /without a sign/],
    ['1790000000.5', /without a sign, an exponent or decimals/],
    ['01790000000000', /plain digits/],
    ['2026-7', /did you mean 2026-07-01T00:00:00\.000Z\?/],
    ['2026/10/1', /did you mean 2026-10-01T00:00:00\.000Z\?/],
    ['2026-10-01t12:00:00z', /did you mean 2026-10-01T12:00:00\.000Z\?/],
    ['2026-10-01 12:00:00 +0000', /did you mean 2026-10-01T12:00:00\.000Z\?/],
    ['2026-10-01 12:00:00 UTC', /did you mean 2026-10-01T12:00:00\.000Z\?/],
    ['2026-10-01 12:00:00.123456789 +0000 UTC', /did you mean 2026-10-01T12:00:00\.123Z\?/],
    ['2026-10-01T12:00Z[UTC]', /did you mean 2026-10-01T12:00:00\.000Z\?/],
    ['2026-10-01T14:00+02:00[Europe/Berlin]', /the same moment as 2026-10-01T12:00:00\.000Z\./],
    ['2026-10-01T12+00:00', /did you mean 2026-10-01T12:00:00\.000Z\?/],
    ['2026-10-01T12:00:00.Z', /must be a time in UTC, such as/],
    ['', /must be a time in UTC, such as/],
    ['yesterday', /must be a time in UTC, such as/],
    ['2026-10-01Z', /must be a time in UTC, such as/],
    ['٢٠٢٦-10-01', /must be a time in UTC, such as/],
  ]
  for (const [text, fault] of refused) {
    test(`is refused, saying what is missing: ${JSON.stringify(text.slice(0, 40))}`, () =>
      assert.match(faultOf(text), fault))
  }

  test('of any text is parsed or refused without an exception, and a long one is refused at once', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789-+:., TZe/_'.split('')), maxLength: 40 }),
        (text) => {
          parseQuery(`from=${encodeURIComponent(text)}`, TABLE)
        },
      ),
    )
    // Processor time: other programs on the machine do not count.
    const begun = process.cpuUsage()
    for (const unit of [' ', '0', '1-', '+', '2026-10-01 ']) faultOf(unit.repeat(4096 / unit.length) + '!')
    assert.ok(process.cpuUsage(begun).user < 500_000)
  })
})
