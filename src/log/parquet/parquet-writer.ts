import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import { columnValue, encodingOf, PARQUET_COLUMNS, PARQUET_FORM, PARQUET_SCHEMA } from './parquet-columns.ts'

/**
 * Most rows of a row group. A reader skips whole groups by their seqs, the writer holds one in memory, and DuckDB asks a URL
 * at least once for each: a scan of five million events takes fewer requests than a minute allows. Part of the form.
 */
const ROW_GROUP_ROWS = 131_072
/** Characters of lines after which a row group ends, so that long texts do not fill the memory. */
const ROW_GROUP_CHARS = 32 * 1024 * 1024

/** Writer of one Parquet file. The bytes depend only on the lines, the facts, and the form's version. */
type ParquetFileWriter = Readonly<{
  /** Adds the next event by its line, and its details line if it has details. Both without a newline. */
  add(line: string, detailsLine: string | null): void
  /** Writes the rest and the footer. Nothing can be added afterwards. */
  finish(): void
}>

/** Opens a writer. `facts` become the file's key-value metadata; `sink` takes its bytes in order, and copies them. */
export function openParquetWriter(
  facts: Readonly<Record<string, string>>,
  sink: (bytes: Uint8Array) => void,
): ParquetFileWriter {
  const bytes = new ByteWriter()
  const parquet = new ParquetWriter({
    writer: bytes,
    schema: [...PARQUET_SCHEMA],
    codec: 'SNAPPY',
    kvMetadata: Object.entries(facts).map(([key, value]) => ({ key, value })),
    // The format that readers parse. Its number is that of the form, so that a release changes no bytes.
    createdBy: `daybook-parquet version ${PARQUET_FORM}`,
  })
  const rows = PARQUET_COLUMNS.map((): unknown[] => [])
  let chars = 0
  const flush = (): void => {
    sink(bytes.getBytes())
    bytes.index = 0
  }
  const writeGroup = (): void => {
    const columnData = PARQUET_COLUMNS.map((column, index): ColumnSource => {
      return { name: column.name, data: rows[index] ?? [], ...encodingOf(column) }
    })
    void parquet.write({ columnData, rowGroupSize: ROW_GROUP_ROWS })
    for (const column of rows) column.length = 0
    chars = 0
    flush()
  }
  return {
    add(line, detailsLine) {
      const event = JSON.parse(line)
      const details = detailsLine === null ? {} : JSON.parse(detailsLine).details
      for (const [index, column] of PARQUET_COLUMNS.entries()) {
        rows[index]?.push(columnValue(column, (column.of === 'event' ? event : details)[column.from]))
      }
      chars += line.length + (detailsLine?.length ?? 0)
      if (rows[0]?.length === ROW_GROUP_ROWS || chars >= ROW_GROUP_CHARS) writeGroup()
    },
    finish() {
      if (rows[0]?.length !== 0) writeGroup()
      void parquet.finish()
      flush()
    },
  }
}
