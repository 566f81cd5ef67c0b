import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { base58 } from '@scure/base'
import * as fc from 'fast-check'
import { billionths, trillionths } from './amount.ts'
import { type Details, formatDetails } from './details.ts'
import { type DaybookEvent, type EventWire, formatEvent } from './event.ts'
import { msOf, parseMonth } from './moment.ts'
import { EVENT_TYPES, RESERVED_KINDS, type Rule, RULES } from './rules.ts'
import { eventSchemas } from './schema.ts'
import { contestIdOf, seqOf } from './seq.ts'

type Json = Readonly<Record<string, unknown>>

const typeOf = (value: unknown) =>
  value === null
    ? 'null'
    : Number.isSafeInteger(value)
      ? 'integer'
      : Array.isArray(value)
        ? 'array'
        : typeof value

/** Keywords of our schemas, by draft 2020-12. An unknown keyword fails the test. */
const KEYWORDS: Readonly<Record<string, (rule: never, value: never, schema: Json) => boolean>> = {
  type: (types: string | string[], value: unknown) => [types].flat().includes(typeOf(value)),
  const: (expected: unknown, value: unknown) => value === expected,
  enum: (allowed: unknown[], value: unknown) => allowed.includes(value),
  pattern: (source: string, value: unknown) =>
    typeof value !== 'string' || new RegExp(source, 'u').test(value),
  minimum: (min: number, value: unknown) => typeof value !== 'number' || value >= min,
  maximum: (max: number, value: unknown) => typeof value !== 'number' || value <= max,
  minLength: (min: number, value: unknown) => typeof value !== 'string' || Array.from(value).length >= min,
  maxLength: (max: number, value: unknown) => typeof value !== 'string' || Array.from(value).length <= max,
  oneOf: (schemas: Json[], value: unknown) => schemas.filter((schema) => fits(schema, value)).length === 1,
  anyOf: (schemas: Json[], value: unknown) => schemas.some((schema) => fits(schema, value)),
  not: (schema: Json, value: unknown) => !fits(schema, value),
  properties: (properties: Record<string, Json>, value: unknown) =>
    entriesOf(value).every(([key, each]) => properties[key] === undefined || fits(properties[key], each)),
  required: (keys: string[], value: unknown) =>
    value === null || keys.every((key) => key in (value as object)),
  additionalProperties: (_: false, value: unknown, schema: Json) =>
    entriesOf(value).every(([key]) => key in (schema['properties'] as object)),
  dependentRequired: (pairs: Record<string, string[]>, value: unknown) =>
    entriesOf(value).every(([key]) => (pairs[key] ?? []).every((other) => other in (value as object))),
}
const NOTES = new Set(['$schema', '$id', '$defs', '$comment', 'title', 'description', 'format'])

const entriesOf = (value: unknown) => (typeOf(value) === 'object' ? Object.entries(value as object) : [])

function fits(schema: Json, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, rule]) => {
    if (NOTES.has(keyword)) return true
    const check = KEYWORDS[keyword] ?? assert.fail(`a keyword that the test does not know: ${keyword}`)
    return check(rule as never, value as never, schema)
  })
}

const TX = base58.encode(new Uint8Array(64).fill(9))
const SAMPLE: Required<Details> = {
  title: 'The autumn round',
  opensAt: msOf(1e12),
  closesAt: msOf(1e12 + 1),
  count: 3,
  unlocksAt: msOf(0),
  reviewUntil: msOf(1e12),
  claim: true,
  winners: 0,
  month: parseMonth('2026-10') ?? assert.fail(),
  paysAt: msOf(1e12),
  digest: `sha256:${'0a'.repeat(32)}`,
  recipients: 10,
  bytes: 0,
  url: 'https://a.example/input.json',
  price: trillionths(1n),
  corrects: seqOf(1),
  reason: 'entered twice',
  restates: seqOf(2),
}

function detailsOf(rule: Rule, which: 'all' | 'must'): Details {
  const fields = Object.entries(rule.details).filter(([, asked]) => which === 'all' || asked === 'must')
  return Object.fromEntries(fields.map(([field]) => [field, SAMPLE[field as keyof Details]]))
}

function eventOf(rule: Rule): DaybookEvent {
  return {
    seq: seqOf(1),
    type: rule.type,
    kind: rule.kind === '*' ? 'word' : rule.kind,
    atMs: msOf(1e12),
    contestId: rule.contestId === 'none' ? null : contestIdOf(7),
    kots: rule.kots === 'none' ? null : billionths(rule.kots === 'must' ? 5n : -5n),
    tx: rule.tx === 'none' ? null : TX,
  }
}

const SCHEMAS = eventSchemas('solana')
const detailsSchemaOf = ({ type, kind }: Rule): Json => {
  const name = kind === '*' ? 'details_of_other_kinds' : `details_of_${kind}`
  return (SCHEMAS[type]['$defs'] as Readonly<Record<string, Json>>)[name] ?? assert.fail(name)
}
const wireOf = (rule: Rule) => JSON.parse(formatEvent(eventOf(rule))) as EventWire

suite('the schema of an event', () => {
  for (const rule of RULES) {
    const event = SCHEMAS[rule.type]
    const details = detailsSchemaOf(rule)

    test(`of ${rule.type}/${rule.kind} accepts what the log writes`, () => {
      assert.equal(fits(event, wireOf(rule)), true)
      for (const which of ['all', 'must'] as const)
        assert.equal(fits(details, JSON.parse(formatDetails(detailsOf(rule, which)))), true)
    })

    test(`of ${rule.type}/${rule.kind} accepts nothing else`, () => {
      const wire = wireOf(rule)
      const { tx: _, ...seven } = wire
      const others: readonly unknown[] = [
        seven,
        { ...wire, details: null },
        { ...wire, seq: 0 },
        { ...wire, type: 'other' },
        { ...wire, kind: 'Word' },
        { ...wire, at: '2026-10-01' },
        { ...wire, contestId: rule.contestId === 'none' ? 7 : 0 },
        { ...wire, kots: rule.kots === 'none' ? '1.000000000' : '1.0' },
        { ...wire, kots: rule.kots === 'must' ? '-1.000000000' : '1.000000000' },
        { ...wire, tx: rule.tx === 'none' ? TX : 'x' },
        ...(rule.tx === 'must' ? [{ ...wire, tx: null }] : []),
      ]
      for (const other of others) assert.equal(fits(event, other), false, JSON.stringify(other))
    })

    test(`of the details of ${rule.type}/${rule.kind} requires the fields of the rule and accepts no other key`, () => {
      const full = JSON.parse(formatDetails(detailsOf(rule, 'all'))) as Record<string, unknown>
      assert.equal(fits(details, { ...full, memo: 1 }), false)
      const isRequired = Object.values(rule.details).includes('must')
      assert.equal(fits(details, null), !isRequired, 'an event without details')
      for (const [field, asked] of Object.entries(rule.details)) {
        const { [field]: _, ...rest } = full
        if (asked === 'must') assert.equal(fits(details, rest), false, field)
      }
    })
  }

  test('of the details takes each number from its least one on', () => {
    for (const [field, least] of [
      ['count', 1],
      ['winners', 0],
      ['recipients', 0],
      ['bytes', 0],
      ['corrects', 1],
      ['restates', 1],
    ] as const) {
      const rule = RULES.find((one) => one.details[field] !== undefined) ?? assert.fail(field)
      const full = JSON.parse(formatDetails(detailsOf(rule, 'all'))) as Json
      assert.equal(fits(detailsSchemaOf(rule), { ...full, [field]: least }), true, field)
      assert.equal(fits(detailsSchemaOf(rule), { ...full, [field]: least - 1 }), false, field)
    }
  })

  test('accepts the kinds of its type, and reserved kinds only where a rule names them', () => {
    const payout = SCHEMAS.payout
    const winner = wireOf(RULES.find((rule) => rule.type === 'payout' && rule.kind === '*') ?? assert.fail())
    for (const kind of RESERVED_KINDS) {
      const isOfPayouts = kind === 'refund'
      assert.equal(fits(payout, { ...winner, kind }), isOfPayouts, kind)
    }
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z][a-z0-9_]{0,31}$/),
        (kind) => RESERVED_KINDS.has(kind) || fits(payout, { ...winner, kind }),
      ),
    )
  })

  test('requires both halves of a moment together', () => {
    const prize = detailsSchemaOf(RULES.find((rule) => rule.type === 'prize') ?? assert.fail())
    assert.deepEqual(prize['dependentRequired'], {
      unlocksAt: ['unlocksAtMs'],
      unlocksAtMs: ['unlocksAt'],
      reviewUntil: ['reviewUntilMs'],
      reviewUntilMs: ['reviewUntil'],
    })
  })

  test('names the details of each of its kinds', () => {
    for (const type of EVENT_TYPES) {
      const { oneOf, $defs } = eventSchemas('evm')[type] as { oneOf: { $comment: string }[]; $defs: object }
      assert.deepEqual(
        oneOf.map((branch) => branch.$comment.replace('details: #/$defs/', '')),
        Object.keys($defs),
      )
    }
  })

  test('exists for every type, as plain JSON', () => {
    const schemas = eventSchemas('opaque')
    assert.deepEqual(Object.keys(schemas), EVENT_TYPES)
    assert.deepEqual(JSON.parse(JSON.stringify(schemas)), schemas)
  })
})
