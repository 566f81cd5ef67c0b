import type { ColumnSource, SchemaElement } from 'hyparquet-writer'
import { keysOf } from '../../protocol/brand.ts'
import { DETAILS_FIELDS } from '../../protocol/details.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { DetailsField } from '../../protocol/rules.ts'

/**
 * Version of the form of Parquet files: columns, their order and types, encodings, compression, row groups, metadata.
 * It rises with every change that gives other bytes for the same lines, a new version of hyparquet-writer included.
 */
export const PARQUET_FORM = 1

/**
 * Form of a column. `moment`: milliseconds since 1970, UTC. `decimal`: exact, with `scale` decimals. `rising`: integers
 * that grow from row to row. `word`: one of few texts. `random`: texts that rarely repeat.
 */
type ColumnForm =
  | Readonly<{ is: 'decimal'; scale: number }>
  | Readonly<{
      is: 'integer' | 'rising' | 'moment' | 'rising-moment' | 'boolean' | 'word' | 'text' | 'random'
    }>

/** A column. Its values come from the key `from` of an event's line or of the details in its details line. */
type ParquetColumn = Readonly<{
  name: string
  of: 'event' | 'details'
  from: string
  form: ColumnForm
  /** Whether it may be null. */
  optional: boolean
}>

/** Digits of every decimal: the most that 16 bytes hold. A draft's amount has 27 and a price 30. */
const DECIMAL_PRECISION = 38
const DECIMAL_BYTES = 16

const EVENT_FORMS: Readonly<Record<keyof EventWire, Readonly<{ form: ColumnForm; optional: boolean }>>> = {
  seq: { form: { is: 'rising' }, optional: false },
  type: { form: { is: 'word' }, optional: false },
  kind: { form: { is: 'word' }, optional: false },
  at: { form: { is: 'rising-moment' }, optional: false },
  atMs: { form: { is: 'rising' }, optional: false },
  contestId: { form: { is: 'integer' }, optional: true },
  kots: { form: { is: 'decimal', scale: 9 }, optional: true },
  tx: { form: { is: 'random' }, optional: true },
}

/** Forms of all details. A new detail does not compile without its form here. */
const DETAILS_FORMS: Readonly<Record<DetailsField, ColumnForm>> = {
  title: { is: 'text' },
  opensAt: { is: 'moment' },
  closesAt: { is: 'moment' },
  count: { is: 'integer' },
  unlocksAt: { is: 'moment' },
  reviewUntil: { is: 'moment' },
  claim: { is: 'boolean' },
  winners: { is: 'integer' },
  month: { is: 'word' },
  paysAt: { is: 'moment' },
  digest: { is: 'random' },
  recipients: { is: 'integer' },
  bytes: { is: 'integer' },
  url: { is: 'text' },
  price: { is: 'decimal', scale: 12 },
  corrects: { is: 'integer' },
  reason: { is: 'text' },
  restates: { is: 'integer' },
}

/** Columns of a Parquet file: the eight fields of an event, then each of the details. A moment pair is one column. */
export const PARQUET_COLUMNS: readonly ParquetColumn[] = [
  ...keysOf(EVENT_FORMS).map((name): ParquetColumn => {
    const { form, optional } = EVENT_FORMS[name]
    return { name, of: 'event', from: name === 'at' ? 'atMs' : name, form, optional }
  }),
  ...DETAILS_FIELDS.map((name): ParquetColumn => {
    const form = DETAILS_FORMS[name]
    const from = form.is === 'moment' ? `${name}Ms` : name
    return { name, of: 'details', from, form, optional: true }
  }),
]

/** Parquet schema of the columns. */
export const PARQUET_SCHEMA: readonly SchemaElement[] = [
  { name: 'root', num_children: PARQUET_COLUMNS.length },
  ...PARQUET_COLUMNS.map((column): SchemaElement => {
    const { name, optional } = column
    return { name, repetition_type: optional ? 'OPTIONAL' : 'REQUIRED', ...typeOf(column) }
  }),
]

function typeOf({ form }: ParquetColumn): Omit<SchemaElement, 'name'> {
  switch (form.is) {
    case 'integer':
    case 'rising':
      return { type: 'INT64' }
    case 'moment':
    case 'rising-moment':
      return {
        type: 'INT64',
        // Beside the logical type, for readers that know the older one only.
        converted_type: 'TIMESTAMP_MILLIS',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
      }
    case 'decimal': {
      const { scale } = form
      const precision = DECIMAL_PRECISION
      return {
        type: 'FIXED_LEN_BYTE_ARRAY',
        type_length: DECIMAL_BYTES,
        converted_type: 'DECIMAL',
        logical_type: { type: 'DECIMAL', precision, scale },
        precision,
        scale,
      }
    }
    case 'boolean':
      return { type: 'BOOLEAN' }
    case 'word':
    case 'text':
    case 'random':
      return { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }
  }
}

/** Encoding of a column. Empty: plain or a dictionary, by the values of each row group. */
export function encodingOf({ form }: ParquetColumn): Pick<ColumnSource, 'encoding'> {
  switch (form.is) {
    case 'rising':
    case 'rising-moment':
      return { encoding: 'DELTA_BINARY_PACKED' }
    case 'word':
      return { encoding: 'RLE_DICTIONARY' }
    case 'random':
    case 'boolean':
      return { encoding: 'PLAIN' }
    case 'integer':
    case 'moment':
    case 'decimal':
    case 'text':
      return {}
  }
}

/** JSON value of a key of an event or of its details. */
type JsonScalar = string | number | boolean | null

/** Value of a column for the writer, from its JSON. Null when the key is absent. */
export function columnValue({ form }: ParquetColumn, value: JsonScalar | undefined): unknown {
  if (value === null || value === undefined) return null
  switch (form.is) {
    case 'integer':
    case 'moment':
      return BigInt(Number(value))
    case 'decimal':
      // Unscaled: the text has all decimals of the column.
      return BigInt(String(value).replace('.', ''))
    case 'rising':
    case 'rising-moment':
    case 'boolean':
    case 'word':
    case 'text':
    case 'random':
      return value
  }
}
