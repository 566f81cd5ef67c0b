import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { asyncapi } from './asyncapi.ts'
import { openapi } from './openapi.ts'

type Json = Readonly<Record<string, unknown>>
type Visit = (pointer: string, value: Json) => void

/** Keys of values, which are no descriptions. */
const VALUES: ReadonlySet<string> = new Set(['examples', 'example', 'const', 'enum', 'default'])
const copyOf = (document: unknown): Json => JSON.parse(JSON.stringify(document)) as Json

/** Visits every object of a document, with its JSON pointer. */
function walk(value: unknown, visit: Visit, pointer = ''): void {
  if (Object(value) !== value) return
  if (!Array.isArray(value)) visit(pointer, Object(value))
  for (const [key, inner] of Object.entries(Object(value))) {
    if (!VALUES.has(key)) walk(inner, visit, `${pointer}/${key}`)
  }
}

/** Description of an object, or else of the object that it refers to. */
function descriptionOf(document: Json, { description, $ref }: Json): unknown {
  if (description !== undefined || typeof $ref !== 'string') return description
  const found = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((within, key) => Object(within)[key], document)
  return Object(found).description
}

/** Pointers of the objects without a description below any of these names. */
function undescribedIn(document: Json, of: ReadonlySet<string>): readonly string[] {
  const undescribed: string[] = []
  walk(document, (pointer, parent) => {
    for (const group of of) {
      for (const [name, one] of Object.entries(Object(parent[group]))) {
        const description = descriptionOf(document, Object(one))
        const isMissing = typeof description !== 'string' || description.trim() === ''
        if (isMissing) undescribed.push(`${pointer}/${group}/${name}`)
      }
    }
  })
  return undescribed
}

const FIELDS: ReadonlySet<string> = new Set(['properties'])
const PARTS: ReadonlySet<string> = new Set(['schemas', 'headers', 'responses', 'parameters', 'servers'])

suite('the OpenAPI document describes', () => {
  const document = copyOf(openapi({ version: '0.0.1', licence: null }))

  test('every field of every schema', () => {
    assert.deepEqual(undescribedIn(document, FIELDS), [])
  })

  test('every schema, header, response, parameter, tag and operation', () => {
    assert.deepEqual(undescribedIn(document, PARTS), [])
    const operations = Object.values(Object(document['paths'])).map((one) => Object(one).get)
    assert.ok(operations.length > 20)
    for (const { name, description } of Object(document['tags'])) assert.ok(description.length > 10, name)
    for (const { operationId, summary, description } of operations) {
      assert.match(String(description), /^Errors: .+\. Caching: .+\. Rate limit: .+\.$/, operationId)
      assert.ok(!String(description).startsWith(summary), `${operationId} says more than its summary`)
    }
  })

  test('the unit of every amount, price and size', () => {
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

  test('each field, and a missing description is found', () => {
    let tried = 0
    walk(document, (pointer, { properties }) => {
      for (const [name, field] of Object.entries(Object(properties))) {
        if (Object(field).description === undefined) continue
        tried += 1
        const kept = Object(field).description
        Object(field).description = ' '
        assert.deepEqual(undescribedIn(document, FIELDS), [`${pointer}/properties/${name}`])
        Object(field).description = kept
      }
    })
    assert.ok(tried > 250, `${tried} fields`)
  })
})

suite('the AsyncAPI document describes', () => {
  const document = copyOf(asyncapi({ version: '0.0.1', licence: null }))

  test('every field, schema, channel and server', () => {
    assert.deepEqual(undescribedIn(document, new Set(['properties', 'schemas', 'channels', 'servers'])), [])
    const { messages, schemas } = Object(document['components'])
    assert.ok(Object.keys(schemas).length === 4)
    for (const { title, summary } of Object.values<{ title: string; summary?: string }>(messages)) {
      assert.ok((summary ?? '') !== '', title)
    }
  })
})
