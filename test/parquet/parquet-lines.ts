import { DuckDBInstance } from '@duckdb/node-api'
import { type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet'
import { openParquetWriter } from '../../src/log/parquet/parquet-writer.ts'
import type { LinePair } from './every-event.ts'

/** A value of a row: moments as milliseconds, decimals as their text. */
export type RowValue = string | number | boolean | null

/** A Parquet file with these lines, and these facts in its metadata. */
export function parquetOf(
  pairs: readonly LinePair[],
  facts: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = []
  const writer = openParquetWriter(facts, (bytes) => parts.push(Buffer.from(bytes)))
  for (const { line, details } of pairs) writer.add(line, details)
  writer.finish()
  return Buffer.concat(parts)
}

/** Lines of a Parquet file as hyparquet reads it. */
export async function linesByHyparquet(file: Uint8Array): Promise<readonly LinePair[]> {
  const buffer = arrayBufferOf(file)
  const metadata = parquetMetadata(buffer)
  const scales = new Map(metadata.schema.map(({ name, scale }) => [name, scale]))
  const rows = await parquetReadObjects({
    file: buffer,
    metadata: withoutFloats(metadata),
    parsers: { timestampFromMilliseconds: (ms: bigint | undefined) => ms },
  })
  return rows.map((row) =>
    pairOf((name) => {
      const value: unknown = row[name] ?? null
      if (value instanceof Uint8Array) return decimal(value, scales.get(name) ?? 0)
      return typeof value === 'bigint' ? Number(value) : (value as RowValue)
    }),
  )
}

/** Key-value metadata of a Parquet file as hyparquet reads it. */
export function factsByHyparquet(file: Uint8Array): Readonly<Record<string, string | undefined>> {
  const { key_value_metadata: facts = [] } = parquetMetadata(arrayBufferOf(file))
  return Object.fromEntries(facts.map(({ key, value }) => [key, value]))
}

/** Lines of a Parquet file as DuckDB reads it: a path, or a URL that it asks by ranges. */
export async function linesByDuckdb(path: string): Promise<readonly LinePair[]> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet('${path}')`)
    const types = new Map(described.getRows().map(([name, type]) => [String(name), String(type)]))
    const columns = [...types].map(([name, type]) =>
      type === 'TIMESTAMP WITH TIME ZONE'
        ? `epoch_ms("${name}") AS "${name}"`
        : type.startsWith('DECIMAL')
          ? `"${name}"::VARCHAR AS "${name}"`
          : `"${name}"`,
    )
    const read = await connection.runAndReadAll(
      `SELECT ${columns.join()} FROM read_parquet('${path}') ORDER BY seq`,
    )
    return read.getRowObjects().map((row) =>
      pairOf((name) => {
        const value = row[name] ?? null
        return typeof value === 'bigint' ? Number(value) : (value as RowValue)
      }),
    )
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** hyparquet makes floats of decimals; without their converted type it returns their bytes. */
function withoutFloats(metadata: FileMetaData): FileMetaData {
  const schema = metadata.schema.map(({ converted_type: type, ...element }) =>
    type === undefined || type === 'DECIMAL' ? element : { ...element, converted_type: type },
  )
  const exact: FileMetaData = { ...metadata, schema }
  return exact
}

function arrayBufferOf(file: Uint8Array): ArrayBuffer {
  return Uint8Array.from(file).buffer
}

/** Text of a big-endian two's complement number with `scale` decimals. */
function decimal(bytes: Uint8Array, scale: number): string {
  const value = BigInt.asIntN(128, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const MOMENTS = ['opensAt', 'closesAt', 'unlocksAt', 'reviewUntil', 'paysAt']
const DETAILS =
  'title,opensAt,closesAt,count,unlocksAt,reviewUntil,claim,winners,month,paysAt,digest,recipients,bytes,url,price,' +
  'corrects,reason,restates'

/** Lines that a row stands for. */
export function pairOf(value: (name: string) => RowValue): LinePair {
  const at = (name: string): string => new Date(Number(value(name))).toISOString()
  const [seq, type, kind, atMs] = ['seq', 'type', 'kind', 'atMs'].map(value)
  const [contestId, kots, tx] = ['contestId', 'kots', 'tx'].map(value)
  const line = JSON.stringify({ seq, type, kind, at: at('at'), atMs, contestId, kots, tx })
  const named = DETAILS.split(',').filter((name) => value(name) !== null)
  const details = named.flatMap((name) =>
    MOMENTS.includes(name)
      ? [
          [name, at(name)],
          [`${name}Ms`, value(name)],
        ]
      : [[name, value(name)]],
  )
  const json = JSON.stringify({ seq, details: Object.fromEntries(details) })
  return { line, details: details.length === 0 ? null : json }
}
