import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { asyncapi } from './asyncapi.ts'
import { openapi } from './openapi.ts'

type Json = Readonly<Record<string, unknown>>
type Shown = (pointer: string, value: Json) => void

/** What stands in a document as a value and not as a description. */
const VALUES: ReadonlySet<string> = new Set(['examples', 'example', 'const', 'enum', 'default'])
const copyOf = (document: unknown): Json => JSON.parse(JSON.stringify(document)) as Json

/** Shows every object of a document with the way to it. */
function walk(value: unknown, show: Shown, pointer = ''): void {
  if (Object(value) !== value) return
  if (!Array.isArray(value)) show(pointer, Object(value))
  for (const [key, inner] of Object.entries(Object(value))) {
    if (!VALUES.has(key)) walk(inner, show, `${pointer}/${key}`)
  }
}

/** What is said of something: beside a reference, or else by what it refers to. */
function saidOf(document: Json, { description, $ref }: Json): unknown {
  if (description !== undefined || typeof $ref !== 'string') return description
  const found = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((within, key) => Object(within)[key], document)
  return Object(found).description
}

/** The parts of a document of which nothing is said: fields of schemas, or what stands under one of these names. */
function silentIn(document: Json, of: ReadonlySet<string>): readonly string[] {
  const silent: string[] = []
  walk(document, (pointer, parent) => {
    for (const group of of) {
      for (const [name, one] of Object.entries(Object(parent[group]))) {
        const said = saidOf(document, Object(one))
        if (typeof said !== 'string' || said.trim() === '') silent.push(`${pointer}/${group}/${name}`)
      }
    }
  })
  return silent
}

const FIELDS: ReadonlySet<string> = new Set(['properties'])
const PARTS: ReadonlySet<string> = new Set(['schemas', 'headers', 'responses', 'parameters', 'servers'])

suite('the OpenAPI document says what it means', () => {
  const document = copyOf(openapi('0.0.1'))

  test('of every field of every schema', () => {
    assert.deepEqual(silentIn(document, FIELDS), [])
  })

  test('of every schema, header, response, parameter, tag and operation', () => {
    assert.deepEqual(silentIn(document, PARTS), [])
    const operations = Object.values(Object(document['paths'])).map((one) => Object(one).get)
    assert.ok(operations.length > 20)
    for (const { name, description } of Object(document['tags'])) assert.ok(description.length > 10, name)
    for (const { operationId, summary, description } of operations) {
      assert.match(String(description), /\. Kept .+\. Counts .+\.$/, operationId)
      assert.ok(!String(description).startsWith(summary), `${operationId} says more than its summary`)
    }
  })

  test('and in which unit it counts, of every amount, price and size', () => {
    const units = new Set<string>()
    walk(document, (pointer, { pattern, properties, 'x-unit': unit }) => {
      if (/\{(?:9|12)\}\$$/.test(String(pattern))) units.add(`${pointer}: ${String(unit)}`)
      const { bytes } = Object(properties)
      if (bytes !== undefined)
        units.add(`${pointer}/bytes: ${/"x-unit":"(\w+)"/.exec(JSON.stringify(bytes))?.[1]}`)
    })
    assert.ok(units.size > 50)
    for (const unit of units) assert.match(unit, /: (?:tokens|US dollars per token|bytes)$/)
  })

  test('or it would be found out, of each field of each schema', () => {
    let tried = 0
    walk(document, (pointer, { properties }) => {
      for (const [name, field] of Object.entries(Object(properties))) {
        if (Object(field).description === undefined) continue
        tried += 1
        const kept = Object(field).description
        Object(field).description = ' '
        assert.deepEqual(silentIn(document, FIELDS), [`${pointer}/properties/${name}`])
        Object(field).description = kept
      }
    })
    assert.ok(tried > 250, `${tried} fields`)
  })
})

suite('the AsyncAPI document says what it means', () => {
  const document = copyOf(asyncapi('0.0.1'))

  test('of every field of every schema, and of every schema, channel and operation', () => {
    assert.deepEqual(silentIn(document, new Set(['properties', 'schemas', 'channels', 'servers'])), [])
    const { messages, schemas } = Object(document['components'])
    assert.ok(Object.keys(schemas).length === 3)
    for (const { title, summary } of Object.values<{ title: string; summary?: string }>(messages)) {
      assert.ok((summary ?? '') !== '', title)
    }
  })
})
