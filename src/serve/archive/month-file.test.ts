import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  type ArchiveNode,
  every,
  FOUR_MONTHS,
  openArchiveNode,
  publish,
} from '../../../test/stage/archive-node.ts'
import { storeSegment } from '../../log/archive/gzip-member.ts'
import { replaceSegments } from '../../mirror/book/replace-segments.ts'
import { openStoredLines, SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { openForWriting, storePath } from '../../log/store/store.ts'
import { MINUTE_MS, monthOf, msOf } from '../../protocol/moment.ts'
import type { ArchiveManifest } from '../../protocol/endpoints/file-endpoints.ts'
import { seqOf } from '../../protocol/seq.ts'
import { openPresentEtag } from '../http/etag.ts'
import type { StreamAsk } from '../http/route.ts'
import { openMonthFiles } from './month-file.ts'

suite('a closed month', () => {
  const closed = '/2026-09.jsonl.gz'
  let node: ArchiveNode
  const get: ArchiveNode['get'] = (...request) => node.get(...request)
  const bytesOf: ArchiveNode['bytesOf'] = (name) => node.bytesOf(name)
  before(async () => {
    node = await openArchiveNode(FOUR_MONTHS)
  })
  after(() => node[Symbol.asyncDispose]())

  test('is sent as it is stored, for any accepted coding, and is immutable', async () => {
    const manifest = (await (await get('/2026-09.json')).json()) as ArchiveManifest
    for (const coding of ['identity', 'gzip', 'br, gzip, zstd']) {
      const response = await get(closed, { 'accept-encoding': coding })
      assert.equal(response.headers.get('content-encoding'), null)
      assert.equal(response.headers.get('vary'), null)
      assert.equal(response.headers.get('content-type'), 'application/gzip')
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(response.headers.get('etag'), `"sha256-${manifest.gzip.sha256}"`)
      assert.equal(response.headers.get('accept-ranges'), 'bytes')
      assert.equal(response.headers.get('content-disposition'), 'attachment; filename="2026-09.jsonl.gz"')
      assert.equal(response.headers.get('daybook-archive-state'), 'closed')
      assert.equal(response.headers.get('daybook-seq'), null)
      const file = Buffer.from(await response.arrayBuffer())
      const digest = createHash('sha256').update(file).digest()
      assert.equal(response.headers.get('repr-digest'), `sha-256=:${digest.toString('base64')}:`)
      assert.equal(digest.toString('hex'), manifest.gzip.sha256)
      assert.equal(response.headers.get('content-length'), String(file.length))
    }
  })

  test('has exactly the lines of its events and of their details, in order', async () => {
    const lines = (await bytesOf(closed).then(gunzipSync)).toString().split('\n')
    assert.equal(lines.pop(), '')
    assert.equal(lines.length, 12_000)
    const details = gunzipSync(await bytesOf('/2026-09.details.jsonl.gz'))
      .toString()
      .split('\n')
    node.log.snapshot((snapshot) => {
      for (const [index, line] of lines.entries()) {
        const seq = seqOf(49 + index)
        assert.equal(line, Buffer.from(snapshot.line(seq) ?? []).toString())
        assert.equal(details[index], snapshot.detailsLine(seq))
      }
    })
  })

  test('answers a matching ETag with 304, and HEAD with headers only', async () => {
    const head = await get(closed, { range: 'bytes=0-9' }, 'HEAD')
    assert.equal(head.status, 200)
    assert.equal((await head.arrayBuffer()).byteLength, 0)
    assert.ok(Number(head.headers.get('content-length')) > 1000)
    const etag = head.headers.get('etag') ?? ''
    const unchanged = await get(closed, { 'if-none-match': etag, range: 'bytes=0-9' })
    assert.equal(unchanged.status, 304)
    assert.equal(unchanged.headers.get('etag'), etag)
    assert.equal(unchanged.headers.get('vary'), null)
  })

  test('resumes a broken transfer at any byte', async () => {
    const file = await bytesOf(closed)
    const etag = `"sha256-${createHash('sha256').update(file).digest('hex')}"`
    for (const [from, to] of [
      [0, 0],
      [5, 20],
      [100_000, file.length - 1],
      [file.length - 5, file.length - 1],
    ] as const) {
      const response = await get(closed, { range: `bytes=${from}-${to}`, 'if-range': etag })
      assert.equal(response.status, 206)
      assert.equal(response.headers.get('content-range'), `bytes ${from}-${to}/${file.length}`)
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(file.subarray(from, to + 1)))
    }
    const tail = await get(closed, { range: 'bytes=-8' })
    assert.ok(Buffer.from(await tail.arrayBuffer()).equals(file.subarray(-8)))
  })

  test('is sent whole for several ranges, and when If-Range has another ETag', async () => {
    for (const headers of [
      { range: 'bytes=0-1,4-5' },
      { range: 'lines=0-1' },
      { range: 'bytes=0-1', 'if-range': '"another"' },
    ]) {
      const response = await get(closed, headers)
      assert.equal(response.status, 200)
      assert.equal(
        gunzipSync(await response.arrayBuffer())
          .toString()
          .split('\n').length,
        12_001,
      )
    }
  })

  test('refuses a range outside the file and names its size', async () => {
    const size = (await bytesOf(closed)).length
    const response = await get(closed, { range: `bytes=${size}-` })
    assert.equal(response.status, 416)
    assert.equal(response.headers.get('content-range'), `bytes */${size}`)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(((await response.json()) as { code: string }).code, 'range-not-satisfiable')
  })

  test('without events is an empty file', async () => {
    assert.equal(gunzipSync(await bytesOf('/2026-10.jsonl.gz')).length, 0)
    const manifest = (await (await get('/2026-10.json')).json()) as ArchiveManifest
    assert.deepEqual([manifest.events, manifest.firstSeq, manifest.size], [0, null, 12_048])
  })

  test('answers 500 and reports an error when the store is damaged', async () => {
    const db = openForWriting(storePath(node.directory))
    const flip = 'UPDATE segments SET bytes = CAST(substr(bytes, 2) || substr(bytes, 1, 1) AS BLOB)'
    db.exec(`${flip} WHERE month = '2026-08'`)
    db.close()
    const response = await get('/2026-08.jsonl.gz')
    assert.equal(response.status, 500)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    await response.arrayBuffer()
    assert.match(String(node.reports[0]), /2026-08.*damaged/)
  })
})

suite('an open month', () => {
  /** Moments of two whole segments of the open month, and a part of the next. */
  const MOMENTS = every(MINUTE_MS, 2 * SEGMENT_SEQS + 50, Date.UTC(2026, 10, 1))
  const month = monthOf(msOf(MOMENTS[0] ?? 0))

  /** Replies with the events of the open month, as to one thread's requests. */
  function openReplies({ log }: ArchiveNode) {
    const files = openMonthFiles(log, openPresentEtag(log.identity.id, 'test'))
    const ask = { method: 'GET', holds: () => false, response: { setTimeout: () => undefined } }
    return () => {
      const reply = files(ask as unknown as StreamAsk, month, 'events')
      assert.ok(reply.is === 'file')
      const chunks = reply.chunks()
      assert.ok(Symbol.iterator in chunks)
      return { bytes: reply.bytes, pieces: Iterator.from(chunks) }
    }
  }

  test('is sent as it was when the transfer began, whatever is published meanwhile', async () => {
    await using node = await openArchiveNode([MOMENTS])
    const { bytes, pieces } = openReplies(node)()
    const { value: first = new Uint8Array(0) } = pieces.next()
    publish(node.appender, every(MINUTE_MS, SEGMENT_SEQS, Date.UTC(2026, 10, 20)))
    const file = Buffer.concat([first, ...pieces])
    assert.equal(file.length, bytes)
    assert.equal(gunzipSync(file).toString().split('\n').length, MOMENTS.length + 1)
  })

  test('breaks off when a mirror takes the segments of its origin, and is then sent with those', async () => {
    await using node = await openArchiveNode([MOMENTS])
    const reply = openReplies(node)
    const begun = reply()
    begun.pieces.next()
    using db = openForWriting(storePath(node.directory))
    const lines = openStoredLines(db)
    const stored = [0, 1].map((index) => {
      const lastSeq = (index + 1) * SEGMENT_SEQS
      const raw = lines('events', index * SEGMENT_SEQS + 1, lastSeq)
      return { lastSeq, raw, bytes: storeSegment(raw) }
    })
    assert.ok(inTransaction(db, () => replaceSegments(db, month, 'events', stored)))
    assert.throws(
      () => begun.pieces.next(),
      /2026-11\.jsonl\.gz has other segments than when its transfer began/,
    )
    const { bytes, pieces } = reply()
    const file = Buffer.concat([...pieces])
    assert.equal(file.length, bytes)
    assert.ok(gunzipSync(file).equals(lines('events', 1, MOMENTS.length)))
  })
})
