import { assert, recordOf } from '../../protocol/brand.ts'
import {
  endpointOf,
  TABLE_ENDPOINTS,
  type TableEndpoint,
  tableTerms,
} from '../../protocol/endpoints/endpoints.ts'
import { DETAILS_FIELDS } from '../../protocol/details.ts'
import { DETAILS_SCHEMAS } from '../../protocol/schema.ts'
import { componentSchemas } from './component-schemas.ts'
import { SCHEMAS_BASE } from './json-document.ts'

/** Form of the values of a column. `decimal` is exact: an amount has nine decimals, a price twelve. */
type ColumnForm =
  | Readonly<{ is: 'decimal'; decimals: number }>
  | Readonly<{ is: 'integer' | 'boolean' | 'moment' | 'month' | 'text' | 'object' }>

/** A column of a CSV, or a key of the objects of a file of JSON lines. */
export type Column = Readonly<{
  name: string
  form: ColumnForm
  meaning: string
  unit: string | null
  /** Whether it may be empty. */
  optional: boolean
  /** All values of a closed list; null for any value. */
  values: readonly string[] | null
}>

/** Parts of a JSON Schema that determine a column. */
type FieldSchema = Readonly<{
  $ref?: string
  type?: string | readonly string[]
  description?: string
  pattern?: string
  enum?: readonly string[]
  anyOf?: readonly FieldSchema[]
  items?: FieldSchema
  properties?: Readonly<Record<string, FieldSchema>>
  additionalProperties?: FieldSchema
  'x-unit'?: string
}>

/** Sample values that identify the forms with a pattern. */
const SAMPLES: readonly (readonly [value: string, form: ColumnForm])[] = [
  ['0.000000000', { is: 'decimal', decimals: 9 }],
  ['0.000000000000', { is: 'decimal', decimals: 12 }],
  ['2026-10-01T00:00:00.000Z', { is: 'moment' }],
  ['2026-10', { is: 'month' }],
]

const schemas: Readonly<Record<string, FieldSchema>> = componentSchemas()

/** Columns of the CSV of each list, from OpenAPI: its plain fields, then the fields of its objects. */
export const TABLE_COLUMNS: Readonly<Record<TableEndpoint, readonly Column[]>> = recordOf(
  TABLE_ENDPOINTS,
  (id) => {
    const element = wholeOf(fieldIn(schemas[endpointOf(id).answer], tableTerms(id).list).items)
    const row = id === 'patterns' ? patternRow(element) : withoutMaps(element)
    return columnNames(row).map((name) => columnOf(name, row))
  },
)

/** Columns of an event: its eight keys. */
export const EVENT_COLUMNS: readonly Column[] = columnsOf(schemas['Event'])

/** Keys of a line of a details file. */
export const DETAILS_COLUMNS: readonly Column[] = columnsOf(schemas['EventDetails'])

/** Columns of a Parquet file: the keys of an event, then each of the details. */
export const PARQUET_FIELDS: readonly Column[] = [
  ...EVENT_COLUMNS,
  ...DETAILS_FIELDS.map((name) => ({
    ...columnOf(name, { properties: { [name]: DETAILS_SCHEMAS[name] } }),
    optional: true,
  })),
]

function columnsOf(schema: FieldSchema | undefined): readonly Column[] {
  const row = wholeOf(schema)
  return fieldNames(row).map((name) => columnOf(name, row))
}

/** Names of the plain fields of a row, then the paths of the fields of its objects. */
function columnNames(row: FieldSchema): readonly string[] {
  const nested = (name: string): readonly string[] => fieldNames(withoutNull(row.properties?.[name]))
  const names = fieldNames(row)
  return [
    ...names.filter((name) => nested(name).length === 0),
    ...names.flatMap((name) => nested(name).map((inner) => `${name}.${inner}`)),
  ]
}

function fieldNames({ properties = {} }: FieldSchema): readonly string[] {
  return Object.keys(properties)
}

/** Row without its open maps, which are rows of another table. */
function withoutMaps({ properties = {} }: FieldSchema): FieldSchema {
  const plain = Object.entries(properties).filter(([, field]) => field.additionalProperties === undefined)
  return { properties: Object.fromEntries(plain) }
}

/** Row of the CSV of `/patterns`: figures of an hour of the week, or of a kind of play in it. */
function patternRow({ properties = {} }: FieldSchema): FieldSchema {
  const { day = {}, hour = {}, byKind = {}, ...figures } = properties
  const kind = {
    type: 'string',
    description: 'Kind of play in a row of `byKind`; empty in the row of the hour',
  }
  const ofKind = { ...byKind.additionalProperties, description: byKind.description ?? '' }
  const either = Object.entries({ ...figures, kind, byKind: ofKind }).map(([name, field]) => [
    name,
    { anyOf: [field, { type: 'null' }] },
  ])
  return { properties: { day, hour, ...Object.fromEntries(either) } }
}

/** Column of a name: a field, or a path such as `input.digest`. */
function columnOf(name: string, row: FieldSchema): Column {
  const steps = name
    .split('.')
    .reduce<readonly FieldSchema[]>(
      (fields, step) => [...fields, fieldIn(withoutNull(fields.at(-1)), step)],
      [row],
    )
  const [field = {}] = steps.slice(-1)
  const bare = withoutNull(field)
  return {
    name,
    form: formOf(bare),
    meaning: field.description ?? bare.description ?? '',
    unit: bare['x-unit'] ?? null,
    optional: steps.some(isNullable),
    values: bare.enum ?? null,
  }
}

function fieldIn(schema: FieldSchema | undefined, name: string): FieldSchema {
  const found = wholeOf(schema).properties?.[name]
  assert(found !== undefined, `the row has a field ${name}`)
  return found
}

/** A schema, or the schema that it refers to. */
function wholeOf(schema: FieldSchema | undefined): FieldSchema {
  assert(schema !== undefined, 'a row has a schema')
  const { $ref } = schema
  return $ref === undefined ? schema : wholeOf(schemas[$ref.slice(SCHEMAS_BASE.length)])
}

function isNullable(schema: FieldSchema): boolean {
  const { type, anyOf = [] } = wholeOf(schema)
  return type?.includes('null') === true || anyOf.some((one) => one.type === 'null')
}

function withoutNull(schema: FieldSchema | undefined): FieldSchema {
  const whole = wholeOf(schema)
  const other = whole.anyOf?.find(({ type }) => type !== 'null')
  return other === undefined || !isNullable(whole) ? whole : wholeOf(other)
}

function formOf({ pattern, type, additionalProperties }: FieldSchema): ColumnForm {
  if (pattern !== undefined) {
    return SAMPLES.find(([value]) => new RegExp(pattern, 'u').test(value))?.[1] ?? { is: 'text' }
  }
  if (type === 'integer' || type === 'boolean') return { is: type }
  return { is: additionalProperties === undefined ? 'text' : 'object' }
}
