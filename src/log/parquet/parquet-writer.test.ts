import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import {
  factsByHyparquet,
  linesByDuckdb,
  linesByHyparquet,
  parquetOf,
} from '../../../test/parquet/parquet-lines.ts'
import { everyEvent } from '../../../test/parquet/every-event.ts'
import { PARQUET_FORM } from './parquet-columns.ts'

/** Version of the form, with the digest of a file in it. A change of one needs a change of the other. */
const KNOWN = [1, '172fe30c567bb49311205bf97ac1f7280545fbfb35723f11fca92e60291473c6']

suite('a Parquet file', () => {
  test('has every value of the lines, as DuckDB and hyparquet read it', async () => {
    const pairs = everyEvent()
    const file = parquetOf(pairs)
    const folder = mkdtempSync(join(tmpdir(), 'daybook-parquet-'))
    const path = join(folder, 'every-event.parquet')
    try {
      writeFileSync(path, file)
      assert.deepEqual(await linesByHyparquet(file), pairs)
      assert.deepEqual(await linesByDuckdb(path), pairs)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('has no row for no event, and the facts', async () => {
    const file = parquetOf([], { 'daybook.month': '2026-10', 'daybook.origin': 'dáybook' })
    assert.deepEqual(await linesByHyparquet(file), [])
    assert.deepEqual(factsByHyparquet(file), { 'daybook.month': '2026-10', 'daybook.origin': 'dáybook' })
  })

  test('changes its bytes for the same lines only with the version of its form', () => {
    const file = parquetOf(everyEvent(), { 'daybook.form': String(PARQUET_FORM) })
    assert.deepEqual([PARQUET_FORM, hash('sha256', file)], KNOWN)
  })
})
