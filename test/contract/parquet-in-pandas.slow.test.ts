import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { keysOf } from '../../src/protocol/brand.ts'
import type { ArchiveIndex } from '../../src/protocol/endpoints/file-endpoints.ts'
import { get, linesAt } from '../oracle/download.ts'
import { hasNewer, skipUnless } from '../processes/test-needs.ts'
import { SAMPLE } from '../stage/places.ts'
import { startService } from '../stage/service.ts'
import { everyEvent, type LinePair } from '../parquet/every-event.ts'
import { linesByPandas, PANDAS_WAYS } from '../parquet/pandas-lines.ts'
import { parquetOf } from '../parquet/parquet-lines.ts'

suite('a Parquet file in pandas', { skip: skipUnless(hasNewer(), 'what .ci/newer-packages brings') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-pandas-'))
  after(() => rmSync(folder, { recursive: true }))

  /** Path of a file with these lines. */
  function fileOf(name: string, pairs: readonly LinePair[]): string {
    const path = join(folder, name)
    writeFileSync(path, parquetOf(pairs))
    return path
  }

  for (const way of keysOf(PANDAS_WAYS)) {
    test(`has every value of every event and its extremes, with types of ${way}`, async () => {
      assert.deepEqual(await linesByPandas(fileOf('every.parquet', everyEvent()), way), everyEvent())
      assert.deepEqual(await linesByPandas(fileOf('none.parquet', []), way), [])
    })
  }

  test('of a closed month, at its URL, has every value of the month’s lines', async () => {
    await using service = await startService({ drafts: SAMPLE })
    const { months } = await get<ArchiveIndex>(service.url, '/api/v1/archive')
    const closed = months.filter(({ state }) => state === 'closed')
    assert.ok(closed.length > 0)
    for (const { url, detailsUrl, parquetUrl, events } of closed) {
      const details = new Map(
        (await linesAt(service.url, detailsUrl)).map((line) => [Number(JSON.parse(line).seq), line]),
      )
      const lines = await linesAt(service.url, url)
      assert.equal(lines.length, events)
      assert.deepEqual(
        await linesByPandas(`${service.url}${parquetUrl}`, 'pyarrow'),
        lines.map((line) => ({ line, details: details.get(Number(JSON.parse(line).seq)) ?? null })),
      )
    }
  })
})
