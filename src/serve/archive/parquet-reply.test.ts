import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { asyncBufferFromUrl, parquetReadObjects } from 'hyparquet'
import { factsByHyparquet, linesByDuckdb, linesByHyparquet } from '../../../test/parquet/parquet-lines.ts'
import { type ArchiveNode, every, openArchiveNode, publish } from '../../../test/stage/archive-node.ts'
import { parquetFolder } from '../../log/parquet/parquet-folder.ts'
import { tradeDraft } from '../../../test/story/trade-draft.ts'
import { HOUR_MS, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import { PARQUET_PIECE_BYTES } from '../../log/store/reader.ts'
import type { ArchiveIndex, ArchiveManifest } from '../../protocol/endpoints/file-endpoints.ts'

const NAME = '/2026-09.parquet'

suite('the Parquet file of a closed month', () => {
  let node: ArchiveNode
  before(async () => {
    node = await openArchiveNode([every(HOUR_MS, 48, Date.UTC(2026, 7, 30))])
    // Random texts, so that the file has several pieces.
    node.appender.begin()
    for (const [index, at] of every(MINUTE_MS, 4_000, Date.UTC(2026, 8, 1)).entries())
      node.appender.append(tradeDraft('', { ref: null, tx: hash('sha512', String(index)) }), null, msOf(at))
    node.appender.write()
    node.appender.commit()
    publish(node.appender, every(MINUTE_MS, 3, Date.UTC(2026, 10, 1)))
  })
  after(() => node[Symbol.asyncDispose]())

  const text = async (name: string): Promise<string> => gunzipSync(await node.bytesOf(name)).toString()
  /** Path of the kept file of September. */
  const kept = (): string => {
    const folder = parquetFolder(node.directory)
    return join(folder, readdirSync(folder).find((name) => name.startsWith('2026-09.')) ?? '')
  }

  test('has the lines of its events and details, as hyparquet and DuckDB read it, and names their digests', async () => {
    const { months } = (await (await node.get('')).json()) as ArchiveIndex
    for (const { month, parquetUrl, state, events } of months) {
      assert.equal(parquetUrl, state === 'open' ? null : `/api/v1/archive/${month}.parquet`)
      if (parquetUrl === null) continue
      const file = await node.bytesOf(`/${month}.parquet`)
      const pairs = await linesByHyparquet(file)
      const linesOf = (lines: readonly (string | null)[]): string =>
        lines.map((line) => (line === null ? '' : `${line}\n`)).join('')
      assert.equal(linesOf(pairs.map(({ line }) => line)), await text(`/${month}.jsonl.gz`))
      assert.equal(linesOf(pairs.map(({ details }) => details)), await text(`/${month}.details.jsonl.gz`))
      const path = join(node.directory, 'read.parquet')
      writeFileSync(path, file)
      assert.deepEqual(await linesByDuckdb(path), pairs)

      const manifest = (await (await node.get(`/${month}.json`)).json()) as ArchiveManifest
      assert.deepEqual(factsByHyparquet(file), {
        'daybook.form': '1',
        'daybook.logId': node.log.identity.id,
        'daybook.origin': node.log.identity.origin,
        'daybook.month': month,
        'daybook.events': String(events),
        ...(events === 0
          ? {}
          : { 'daybook.firstSeq': String(manifest.firstSeq), 'daybook.lastSeq': String(manifest.lastSeq) }),
        'daybook.linesSha256': manifest.lines.sha256,
        'daybook.detailsLinesSha256': manifest.details.lines.sha256,
      })
    }
  })

  test('is sent whole and in any part, with the digest of its bytes', async () => {
    const whole = await node.bytesOf(NAME)
    assert.ok(whole.length > 4 * PARQUET_PIECE_BYTES, `${whole.length} bytes have several pieces`)
    const sha256 = hash('sha256', whole)
    const edges = [
      0,
      1,
      PARQUET_PIECE_BYTES - 1,
      PARQUET_PIECE_BYTES,
      2 * PARQUET_PIECE_BYTES + 7,
      whole.length - 1,
    ]
    for (const from of edges) {
      for (const to of edges.filter((edge) => edge >= from)) {
        const response = await node.get(NAME, { range: `bytes=${from}-${to}` })
        assert.equal(response.headers.get('content-range'), `bytes ${from}-${to}/${whole.length}`)
        assert.equal(response.headers.get('etag'), `"sha256-${sha256}"`)
        const part = Buffer.from(await response.arrayBuffer())
        assert.equal(Buffer.compare(part, whole.subarray(from, to + 1)), 0, `bytes ${from} to ${to}`)
      }
    }
  })

  test('is read by ranges over HTTP, as by hyparquet in a page', async () => {
    const url = `${node.base}${NAME}`
    const file = await asyncBufferFromUrl({ url })
    const rows = await parquetReadObjects({ file, columns: ['seq', 'tx'], rowStart: 100, rowEnd: 102 })
    const expected = (await text('/2026-09.jsonl.gz'))
      .split('\n')
      .slice(100, 102)
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      rows.map(({ seq, tx }) => ({ seq: Number(seq), tx })),
      expected.map(({ seq, tx }) => ({ seq, tx })),
    )
  })

  const damages: Readonly<Record<string, (path: string) => void>> = {
    'with a flipped bit': (path) => {
      const bytes = readFileSync(path)
      bytes.writeUInt8((bytes[PARQUET_PIECE_BYTES + 5] ?? 0) ^ 1, PARQUET_PIECE_BYTES + 5)
      writeFileSync(path, bytes)
    },
    'that is cut': (path) => truncateSync(path, PARQUET_PIECE_BYTES + 1),
    'that is empty': (path) => truncateSync(path, 0),
    'with the content of another file': (path) => writeFileSync(path, 'PAR1 and something else'),
    'under the name of other bytes': (path) => renameSync(path, path.replace(/[0-9a-f]{64}/, 'f'.repeat(64))),
    'of other facts': (path) => renameSync(path, path.replace(/\.[0-9a-f]{16}\./, `.${'0'.repeat(16)}.`)),
    'that is gone': (path) => rmSync(path),
  }
  for (const [kind, damage] of Object.entries(damages)) {
    test(`is made again, and never sent, in place of a file ${kind}`, async () => {
      const whole = await node.bytesOf(NAME)
      damage(kept())
      assert.equal(Buffer.compare(await node.bytesOf(NAME), whole), 0)
      assert.equal(Buffer.compare(readFileSync(kept()), whole), 0)
      assert.deepEqual(node.reports, [])
    })
  }
})
