import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { openapi } from './openapi.ts'

type Operation = {
  operationId: string
  parameters: { name: string; in: string; schema: object; description?: string; example?: unknown }[]
  responses: Record<string, { content?: Record<string, unknown>; headers?: Record<string, unknown> }>
}
type Document = {
  openapi: string
  info: { description: string }
  paths: Record<string, { get: Operation }>
  components: Record<string, Record<string, unknown>>
}

/** A path as OpenAPI writes it, without parts of several segments. */
const templateOf = (path: string): string => path.replace('...}', '}')

suite('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(openapi({ version: '0.0.1', licence: null }))) as Document

  test('has the endpoints of the table with all their parameters, and no others', () => {
    assert.deepEqual(
      Object.keys(document.paths),
      ENDPOINTS.map(({ path }) => templateOf(path)),
    )
    for (const { path, id, parameters } of ENDPOINTS) {
      const operation = document.paths[templateOf(path)]?.get
      assert.equal(operation?.operationId, id)
      assert.deepEqual(
        operation?.parameters.filter((one) => one.in === 'query').map(({ name }) => name),
        parameters.map(({ name }) => name),
      )
    }
  })

  test('has no dangling reference', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)]
    assert.ok(references.length > ENDPOINTS.length)
    for (const [, group = '', name = ''] of references) {
      assert.ok(document.components[group]?.[name] !== undefined, `${group}/${name}`)
    }
    assert.doesNotMatch(JSON.stringify(document), /"\$ref":"(?!#\/components)/)
  })

  test('describes the stream in both framings, and the log as JSON and CSV', () => {
    const mediaOf = (path: string) => Object.keys(document.paths[path]?.get.responses['200']?.content ?? {})
    assert.deepEqual(mediaOf('/api/v1/stream'), ['text/event-stream', 'application/x-ndjson'])
    assert.deepEqual(mediaOf('/api/v1/events'), ['application/json', 'text/csv'])
  })

  test('describes the answers of the archive: files, ranges, manifests and digests', () => {
    const operation = document.paths['/api/v1/archive/{file}']?.get
    assert.deepEqual(Object.keys(operation?.responses['200']?.content ?? {}), [
      'application/gzip',
      'application/vnd.apache.parquet',
      'application/json',
      'text/plain',
    ])
    assert.ok(operation?.responses['206']?.headers?.['Content-Range'] !== undefined)
    assert.ok(operation.responses['416'] !== undefined)
  })

  test('describes every parameter and gives an example', () => {
    for (const [path, { get }] of Object.entries(document.paths)) {
      for (const { name, description, example } of get.parameters) {
        assert.ok((description ?? '').length > 3 && example !== undefined, `${path} ${name}`)
      }
    }
  })

  test('says what a parameter means, and then what holds without it', () => {
    for (const [path, name, told] of [
      [
        '/api/v1/summary',
        'at',
        'The state with all events up to this moment, as known then. When absent: now.',
      ],
      ['/api/v1/events', 'to', 'Only events before this moment. When absent: no upper bound.'],
      [
        '/api/v1/events',
        'from',
        'Only events at or after this moment; with `after`, the later of both. When absent: no lower bound.',
      ],
      ['/api/v1/flows', 'to', 'End of the range, exclusive. When absent: the end of the present bucket.'],
      [
        '/api/v1/patterns',
        'to',
        'End of the range, exclusive, ceiled to the minute. When absent: the end of the present minute.',
      ],
    ]) {
      const found = document.paths[path ?? '']?.get.parameters.find((one) => one.name === name)
      assert.equal(found?.description, told)
    }
  })

  test('has a 400 for every endpoint', () => {
    for (const { get } of Object.values(document.paths)) assert.ok(get.responses['400'] !== undefined)
  })

  test('says that the data is informational only', () => {
    assert.equal(document.openapi, '3.1.0')
    assert.match(document.info.description, /informational only: it is not advice, a forecast or an offer/)
  })
})
