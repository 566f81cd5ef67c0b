import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { openParquetMaker } from '../src/log/parquet/parquet-month.ts'
import { parquetFolder } from '../src/log/parquet/parquet-folder.ts'
import { PARQUET_COLUMNS } from '../src/log/parquet/parquet-columns.ts'
import { openReader } from '../src/log/open-reader.ts'
import type { MonthFile } from '../src/log/store/reader.ts'
import type { ArchiveManifest } from '../src/protocol/endpoints/file-endpoints.ts'
import type { Month } from '../src/protocol/moment.ts'
import { bigStore } from './stage/big-store.ts'
import { benchSettings, inTurns, report } from './stage/report.ts'

/**
 * Measures the Parquet files of all closed months, beside those that DuckDB makes of the same lines with the same
 * columns, on one thread. Sizes also beside the gzip-compressed lines.
 */

const { store, events } = benchSettings()
const data = bigStore(store, events)
const folder = mkdtempSync(join(tmpdir(), 'daybook-bench-parquet-'))
const sizes = { ours: 0, theirs: 0, gzip: 0 }
try {
  const months = writeLines()
  const made = months.reduce((sum, { events: count }) => sum + count, 0)
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
  const connection = await instance.connect()

  const ours = async (): Promise<void> => {
    sizes.ours = 0
    rmSync(parquetFolder(data), { recursive: true, force: true })
    using maker = openParquetMaker(data, 0)
    for (const { month } of months) sizes.ours += maker.make(month as Month).bytes
  }
  const theirs = async (): Promise<void> => {
    sizes.theirs = 0
    for (const { month } of months) {
      const path = join(folder, `${month}.parquet`)
      await connection.run(copyOf(month, path))
      sizes.theirs += statSync(path).size
    }
  }
  const [own = [], peers = []] = await inTurns(3, [ours, theirs], async (candidate) => {
    const began = performance.now()
    await candidate()
    return ((performance.now() - began) * 1_000) / made
  })
  const ofSize = { what: 'Parquet, size', unit: 'bytes an event', better: 'less' } as const
  report([
    { what: 'Parquet, time', unit: 'µs an event', peer: 'DuckDB', ours: own, theirs: peers, better: 'less' },
    { ...ofSize, peer: 'DuckDB', ours: [sizes.ours / made], theirs: [sizes.theirs / made] },
    { ...ofSize, peer: 'gzip of JSON lines', ours: [sizes.ours / made], theirs: [sizes.gzip / made] },
  ])
  connection.closeSync()
  instance.closeSync()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Writes the files of the closed months, as they are served. Returns their manifests. */
function writeLines(): readonly ArchiveManifest[] {
  const log = openReader(data, null)
  const manifests = log.snapshot((snapshot) => {
    return snapshot.months().flatMap(({ month, manifest }): ArchiveManifest[] => {
      if (manifest === null) return []
      for (const file of ['events', 'details'] as const) {
        const layout = snapshot.monthLayout(month, file)
        if (layout === undefined) throw new Error(`${month} has no layout`)
        const chunks: Uint8Array[] = []
        for (let at = 0; at < layout.storedBytes; at += chunks.at(-1)?.length ?? 0)
          chunks.push(snapshot.monthChunk(month, file, at, layout.storedBytes))
        writeFileSync(linesPath(month, file), Buffer.concat([...chunks, layout.ending]))
      }
      return [JSON.parse(manifest)]
    })
  })
  log.close()
  for (const { gzip, details } of manifests) sizes.gzip += gzip.bytes + details.bytes
  return manifests
}

function linesPath(month: string, file: MonthFile): string {
  return join(folder, `${month}.${file}.jsonl.gz`)
}

/** The statement that makes a month's Parquet file with the same columns. */
function copyOf(month: string, path: string): string {
  const typeOf = (form: (typeof PARQUET_COLUMNS)[number]['form']): string => {
    if (form.is === 'boolean') return 'BOOLEAN'
    return ['decimal', 'word', 'text', 'random'].includes(form.is) ? 'VARCHAR' : 'BIGINT'
  }
  const read = (of: 'event' | 'details'): string =>
    PARQUET_COLUMNS.filter((column) => column.of === of && column.name !== 'at')
      .map(({ from, form }) => `"${from}" ${typeOf(form)}`)
      .join()
  const columns = PARQUET_COLUMNS.map(({ name, of, from, form }) => {
    const value = of === 'event' ? `e."${from}"` : `d.details."${from}"`
    if (form.is === 'decimal') return `CAST(${value} AS DECIMAL(38, ${form.scale})) AS "${name}"`
    const isMoment = form.is === 'moment' || form.is === 'rising-moment'
    return `${isMoment ? `make_timestamptz(${value} * 1000)` : value} AS "${name}"`
  })
  const fieldsOf = (list: string): string => list.replaceAll(/"(\w+)" (\w+)/g, "$1: '$2'")
  return `COPY (
    SELECT ${columns.join()}
    FROM read_json('${linesPath(month, 'events')}', columns = {${fieldsOf(read('event'))}}) e
    LEFT JOIN read_json('${linesPath(month, 'details')}',
      columns = {seq: 'BIGINT', details: 'STRUCT(${read('details')})'}) d USING (seq)
    ORDER BY e.seq) TO '${path}' (FORMAT parquet, CODEC 'snappy')`
}
