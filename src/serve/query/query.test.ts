import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { codePoints } from '../../../test/story/code-points.ts'
import { FILTERS } from '../../protocol/endpoints/endpoint-parameters.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import { type Parameter, whole } from '../../protocol/parameters.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import type { Problem } from '../../protocol/problem.ts'
import { parseQuery } from './query.ts'

const EVENTS = endpointOf('events').parameters
const CONTESTS = endpointOf('contests').parameters
const RANGE = endpointOf('flows').parameters
const TZ: Parameter = { name: 'tz', form: whole(-840, 840), absent: '0', meaning: '', example: '' }

function problemOf(raw: string, table: readonly Parameter[] = EVENTS): Problem {
  const read = parseQuery(raw, table)
  assert.ok(!read.ok, `${raw} is refused`)
  return read.problem
}

function accepted(raw: string, table: readonly Parameter[] = EVENTS) {
  const read = parseQuery(raw, table)
  assert.ok(read.ok, `${raw} is accepted`)
  return read.value
}

suite('a query', () => {
  test('is parsed into typed values, and absent parameters are undefined', () => {
    const query = accepted('after=1200&type=payout,burn&nonzero=1&from=2026-10-01&format=csv')
    assert.equal(query.integer('after'), 1200)
    assert.deepEqual(query.list('type'), ['payout', 'burn'])
    assert.equal(query.has('nonzero'), true)
    assert.equal(query.time('from'), Date.UTC(2026, 9, 1))
    assert.equal(query.word('format'), 'csv')
    assert.equal(query.integer('limit'), undefined)
    assert.equal(query.has('kind'), false)
  })

  test('is percent-decoded once, and a plus is a space', () => {
    assert.deepEqual(accepted('type=payout%2Cburn').list('type'), ['payout', 'burn'])
    assert.equal(accepted('from=2026-10-01T00%3A00Z').time('from'), Date.UTC(2026, 9, 1))
    assert.equal(problemOf('type=payout%252Cburn').code, 'invalid-parameter')
    assert.equal(problemOf('tz=+60', [TZ]).code, 'invalid-parameter')
  })

  test('takes a list with commas, as a repeated parameter, or both', () => {
    for (const raw of [
      'kind=a,b,c',
      'kind=a&kind=b&kind=c',
      'kind=a,b&limit=1&kind=c',
      'kind=a%2Cb&k%69nd=c',
    ])
      assert.deepEqual(accepted(raw).list('kind'), ['a', 'b', 'c'], raw)
    assert.deepEqual(accepted('contestId=3&contestId=1,2').integers('contestId'), [3, 1, 2])
    assert.deepEqual(accepted('status=closed&status=running', CONTESTS).list('status'), ['closed', 'running'])
    assert.equal(accepted('kind=a&limit=1&kind=b').format(), '?kind=a,b&limit=1')
  })

  test('counts a value once that a list has twice', () => {
    assert.deepEqual(accepted('type=payout&type=burn,payout').list('type'), ['payout', 'burn'])
    assert.equal(accepted('contestId=1,1').format(), '?contestId=1')
  })

  test('takes 20 values of a list at most', () => {
    const ids = (count: number): string => Array.from({ length: count }, (_, at) => at + 1).join(',')
    assert.equal(accepted(`contestId=${ids(20)}`).integers('contestId')?.length, 20)
    assert.equal(
      problemOf(`contestId=${ids(20)}&contestId=21`).detail,
      '`contestId` must be 1 to 20 values, separated by commas. ' +
        'Each is an integer from 1 to 9007199254740991 in plain digits.',
    )
  })

  test('names the known values of a list for an unknown one, and the limit for too many', () => {
    const [known] = [EVENTS.flatMap(({ form }) => (form.is === 'list-of' ? [form.values.join(', ')] : []))]
    assert.equal(
      problemOf('type=colour').detail,
      `\`type\` has a value that is not known. Allowed: ${known[0]}. Give up to 20, separated by commas.`,
    )
    assert.equal(
      problemOf(`type=${Array.from({ length: 21 }, () => 'burn').join(',')}`).detail,
      `\`type\` must be 1 to 20 values, separated by commas, out of ${known[0]}.`,
    )
  })

  test('names the parameter that has a value of a list instead', () => {
    const query = parseQuery('status=paid,cancelled', endpointOf('contests').parameters)
    assert.match(
      query.ok ? '' : query.problem.detail,
      /^`status` .* Use `outcome=cancelled`\. Allowed: upcoming, /,
    )
  })

  test('may be empty', () => {
    assert.equal(accepted('').format(), '')
  })

  test('is written again in the order of the table, with changes', () => {
    const query = accepted('limit=10&type=payout%2Cburn&after=5')
    assert.equal(query.format(), '?after=5&type=payout,burn&limit=10')
    assert.equal(query.format({ after: '15', limit: undefined }), '?after=15&type=payout,burn')
  })

  test('names every fault, and the first one decides the code', () => {
    const problem = problemOf('limit=0&order=asc&order=desc&colour=red')
    assert.equal(problem.code, 'invalid-parameter')
    assert.deepEqual(
      problem.errors?.map(({ parameter }) => parameter),
      ['limit', 'order', 'colour'],
    )
    assert.deepEqual(
      problem.errors?.find(({ parameter }) => parameter === 'colour')?.allowed,
      EVENTS.map(({ name }) => name),
    )
  })

  test('says in one sentence which parameter is wrong and why', () => {
    assert.equal(problemOf('limit=0').detail, '`limit` must be an integer from 1 to 10000 in plain digits.')
    for (const raw of [
      'from=1',
      'from=x',
      'nonzero=0',
      'kind=X',
      'type=x',
      'order=x',
      'after',
      'after=1&after=1',
    ]) {
      const { detail, errors } = problemOf(raw)
      assert.match(detail, new RegExp(`^\`${raw.split('=', 1)[0]}\` .*[.?]$`))
      assert.equal(errors?.[0]?.message, detail)
    }
  })

  test('refuses a text that is not UTF-8, and says so', () => {
    for (const raw of ['%ED%A0%80', '%ff', '%zz']) {
      const query = parseQuery(`q=${raw}`, endpointOf('contests').parameters)
      assert.match(query.ok ? '' : query.problem.detail, /^`q` must be text in UTF-8, percent-encoded/)
    }
  })

  const refused: readonly (readonly [raw: string, code: string, table?: readonly Parameter[]])[] = [
    ['after=9007199254740993', 'invalid-parameter'],
    ['after=99999999999999999999', 'invalid-parameter'],
    ['after=-1', 'invalid-parameter'],
    ['after=01', 'invalid-parameter'],
    ['after=1e3', 'invalid-parameter'],
    ['after=0x10', 'invalid-parameter'],
    ['after=1.0', 'invalid-parameter'],
    ['after=', 'invalid-parameter'],
    ['after', 'invalid-parameter'],
    ['after=%zz', 'invalid-parameter'],
    ['after=%ff', 'invalid-parameter'],
    ['after=1&after=1', 'repeated-parameter'],
    ['after=x&after=1', 'invalid-parameter'],
    ['limit=0', 'invalid-parameter'],
    ['limit=10001', 'invalid-parameter'],
    ['nonzero=0', 'invalid-parameter'],
    ['nonzero=true', 'invalid-parameter'],
    ['type=constructor', 'invalid-parameter'],
    ['type=payout,', 'invalid-parameter'],
    ['type=payout&type=', 'invalid-parameter'],
    ['type=payout&type', 'invalid-parameter'],
    ['type&type=payout', 'invalid-parameter'],
    ['kind=a,b,', 'invalid-parameter'],
    ['kind=a, b', 'invalid-parameter'],
    ['contestId=1,x', 'invalid-parameter'],
    ['contestId=1&contestId=0', 'invalid-parameter'],
    ['order=asc&order=asc', 'repeated-parameter'],
    ['type=Payout', 'invalid-parameter'],
    ['kind=Winner', 'invalid-parameter'],
    ['order=down', 'invalid-parameter'],
    ['bucket=second', 'invalid-parameter', RANGE],
    ['bucket=Day', 'invalid-parameter', RANGE],
    ['bucket=__proto__', 'invalid-parameter', RANGE],
    ['tz=841', 'invalid-parameter', [TZ]],
    ['tz=-0', 'invalid-parameter', [TZ]],
    ['from=2026-02-30', 'invalid-parameter'],
    ['from=2026-10-01T12:00', 'invalid-parameter'],
    ['from=2026-10-01T12:00%2B02:00', 'invalid-parameter'],
    ['from=-1', 'invalid-parameter'],
    ['from=1e12', 'invalid-parameter'],
    ['utm_source=x', 'unknown-parameter'],
    ['__proto__=x', 'unknown-parameter'],
    ['After=1', 'unknown-parameter'],
    ['after[]=1', 'unknown-parameter'],
  ]
  for (const [raw, code, table] of refused) {
    test(`${raw.slice(0, 40)} is refused as ${code}`, () => assert.equal(problemOf(raw, table).code, code))
  }

  const bounds: readonly (readonly [name: string, least: number, greatest: number, id: EndpointId])[] = [
    ['after', 0, Number.MAX_SAFE_INTEGER, 'events'],
    ['before', 1, Number.MAX_SAFE_INTEGER, 'events'],
    ['limit', 1, 10_000, 'events'],
    ['limit', 1, 10_000, 'contests'],
    ['tz', -840, 840, 'patterns'],
  ]
  for (const [name, least, greatest, id] of bounds) {
    test(`of ${id} takes ${name} from ${least} to ${greatest}`, () => {
      const { parameters } = endpointOf(id)
      for (const value of [least, greatest])
        assert.equal(accepted(`${name}=${value}`, parameters).integer(name), value)
      for (const value of [BigInt(least) - 1n, BigInt(greatest) + 1n])
        assert.equal(problemOf(`${name}=${value}`, parameters).code, 'invalid-parameter')
    })
  }

  test('of payouts takes each contestId from 1 to 2^53-1', () => {
    const { parameters } = endpointOf('payouts')
    const ids = [1, Number.MAX_SAFE_INTEGER]
    assert.deepEqual(accepted(`contestId=${ids.join()}`, parameters).integers('contestId'), ids)
    for (const id of ['0', String(2n ** 53n)]) {
      assert.equal(problemOf(`contestId=1,${id}`, parameters).code, 'invalid-parameter')
    }
  })

  test('with a time in seconds suggests milliseconds', () => {
    assert.match(problemOf('from=1790000000').detail, /did you mean milliseconds\?/)
    assert.equal(accepted('from=0').time('from'), 0)
  })

  test('is never repeated in a problem, and neither is an unknown parameter that might be an address', () => {
    const sent = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
    for (const raw of [`${sent}=1`, `after=${sent}`, `type=${sent}`, `kind=${sent}`, `from=${sent}`]) {
      assert.ok(!JSON.stringify(problemOf(raw)).includes(sent.slice(0, 12)), raw)
    }
    assert.equal(problemOf('<script>=1').errors?.[0]?.parameter, 'a parameter')
  })

  test('repeats no unknown name in which the shortest address fits, also after the searched characters', () => {
    for (const name of ['bc1pfeessrawgf', 'XE81ETHXREGGAVOFYORK']) {
      const problem = problemOf(`x=${'a'.repeat(256)}&${name}=1`)
      assert.ok(!JSON.stringify(problem).includes(name), name)
      assert.equal(problem.errors?.[1]?.parameter, 'a parameter')
    }
    assert.equal(problemOf('utm_campaigns=1').errors?.[0]?.parameter, 'utm_campaigns')
  })

  test('has eight listed faults at most', () => {
    const few = problemOf('q&q&q&q&q&q&q')
    assert.equal(few.errors?.length, 7)
    assert.equal(few.detail, '7 parameters are not right.')
    for (const pairs of ['q&', 'after=x&', 'wrong=1&']) {
      const many = problemOf(pairs.repeat(500))
      assert.equal(many.errors?.length, 8, pairs)
      assert.equal(many.detail, '8 or more parameters are not right.')
    }
  })

  test('is searched for an address in 256 refused characters, and in every value that it accepts', () => {
    const sent = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
    for (const name of ['unknown', 'after', 'type']) {
      const word = `${'.'.repeat(256 - name.length - sent.length)}${sent}`
      assert.equal(problemOf(`${name}=${word}`).code, 'address-forbidden', name)
      assert.notEqual(problemOf(`after=${'.'.repeat(256)}&${name}=${word}`).code, 'address-forbidden', name)
      assert.ok(!JSON.stringify(problemOf(`${name}=${'.'.repeat(256)}${sent}`)).includes('4Nd1'), name)
    }
    const text: Parameter = { ...TZ, name: 'q', form: { is: 'text', charsMax: 100, guarded: true } }
    const raw = `wrong=${'.'.repeat(2_000)}&q=${sent}`
    assert.equal(problemOf(raw, [text]).code, 'address-forbidden')
  })

  test('of any text is parsed or refused without an exception', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: codePoints }),
        fc.constantFrom(EVENTS, FILTERS, RANGE, []),
        (raw, table) => {
          const read = parseQuery(raw, table)
          return read.ok || read.problem.detail.length > 0
        },
      ),
    )
  })

  test('written again parses to the same query', () => {
    const queries = fc.record(
      {
        after: fc.nat().map(String),
        kind: fc.stringMatching(/^[a-z][a-z0-9_]{0,31}$/),
        type: fc.subarray(['payout', 'burn', 'play'], { minLength: 1 }).map((types) => types.join(',')),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(queries, (fields) => {
        const once = accepted(new URLSearchParams(fields).toString()).format()
        return accepted(once.slice(1)).format() === once
      }),
    )
  })
})
