import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { EventTypes } from '../../src/protocol/endpoints/description-endpoints.ts'
import { EVENT_TYPES } from '../../src/protocol/rules.ts'
import type { PublicEntry, PublicEvent } from '../oracle/book.ts'
import { download, get } from '../oracle/download.ts'
import { type ApiStage, openApiStage } from '../stage/api-stage.ts'
import { sharedSample } from '../sample/imported-node.ts'
import { GOLDEN } from '../stage/places.ts'

/** Events of every type and every reserved kind, with a correction of each correctable one. */
const DRAFTS = join(GOLDEN, 'drafts.jsonl')

type Schema = Readonly<{
  $id: string
  oneOf: readonly Readonly<{
    $comment: string
    properties: Readonly<{ kind: Readonly<{ const?: string }> }>
  }>[]
}>

/** Validators made from the schemas alone: one of events, and one of each type's details. */
type Judge = Readonly<{
  event(event: object): string | null
  details(event: PublicEvent, details: unknown): string | null
  schemas: ReadonlyMap<string, Schema>
}>

async function judgeBy(base: string): Promise<Judge> {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true })
  addFormats.default(ajv)
  const schemas = new Map<string, Schema>()
  const validators = new Map<string, ValidateFunction>()
  for (const type of EVENT_TYPES) {
    const schema = await get<Schema>(base, `/api/v1/event-types/${type}`)
    assert.equal(ajv.validateSchema(schema), true, 'it is JSON Schema 2020-12')
    schemas.set(type, schema)
    validators.set(type, ajv.compile(schema))
  }
  const said = (validate: ValidateFunction | undefined, value: unknown): string | null =>
    validate === undefined || validate(value) ? null : ajv.errorsText(validate.errors)
  return {
    schemas,
    event: (event) =>
      said(validators.get(String(Reflect.get(event, 'type'))) ?? assert.fail('the type has a schema'), event),
    details({ type, kind }, details) {
      const { $id, oneOf } = schemas.get(type) ?? assert.fail(type)
      const branch =
        oneOf.find(({ properties }) => properties.kind.const === kind) ??
        oneOf.find(({ properties }) => properties.kind.const === undefined)
      const place = branch?.$comment.replace('details: ', '') ?? assert.fail(`${type}/${kind}`)
      return said(ajv.getSchema(`${$id}${place}`) ?? assert.fail(place), details)
    },
  }
}

let golden: ApiStage | undefined
after(async () => golden?.[Symbol.asyncDispose]())

async function serveGolden(): Promise<string> {
  golden = await openApiStage({ story: [], chain: 'solana' })
  golden.import(readFileSync(DRAFTS, 'utf8').trimEnd().split('\n'))
  return `http://127.0.0.1:${golden.port}`
}

for (const [name, serve] of [
  ['the sample', async () => (await sharedSample()).url],
  ['the golden month', serveGolden],
] as const) {
  suite(`the event schemas of a service of ${name}`, () => {
    let base = ''
    let judge: Judge
    let entries: readonly PublicEntry[] = []
    before(async () => {
      base = await serve()
      judge = await judgeBy(base)
      entries = await download(base)
    })

    test('are at the addresses that the catalogue names', async () => {
      const { types } = await get<EventTypes>(base, '/api/v1/event-types')
      assert.deepEqual(
        types.map(({ type }) => type),
        EVENT_TYPES,
      )
      for (const { type, schema } of types) {
        assert.deepEqual(schema, judge.schemas.get(type))
        assert.deepEqual(await get(base, schema.$id), schema)
      }
    })

    test('accept every event and its details', () => {
      assert.ok(entries.length > 50)
      for (const { event, details } of entries) {
        assert.equal(judge.event(event), null, JSON.stringify(event))
        assert.equal(judge.details(event, details), null, `the details of ${event.seq}`)
      }
    })
  })
}
