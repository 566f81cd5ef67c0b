import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type ArchiveNode, FOUR_MONTHS, openArchiveNode, publish } from '../../../test/stage/archive-node.ts'
import type { ArchiveIndex } from '../../protocol/endpoints/file-endpoints.ts'

suite('the archive over HTTP', () => {
  let node: ArchiveNode
  const get: ArchiveNode['get'] = (...request) => node.get(...request)
  const bytesOf: ArchiveNode['bytesOf'] = (name) => node.bytesOf(name)
  before(async () => {
    node = await openArchiveNode(FOUR_MONTHS)
  })
  after(() => node[Symbol.asyncDispose]())

  test('lists every month, also the empty and the open one', async () => {
    const response = await get('')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(response.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
    assert.equal(response.headers.get('daybook-seq'), '12348')
    const { months } = (await response.json()) as ArchiveIndex
    assert.deepEqual(
      months.map(({ month, state, events, firstSeq, lastSeq }) => [month, state, events, firstSeq, lastSeq]),
      [
        ['2026-08', 'closed', 48, 1, 48],
        ['2026-09', 'closed', 12_000, 49, 12_048],
        ['2026-10', 'closed', 0, null, null],
        ['2026-11', 'open', 300, 12_049, 12_348],
      ],
    )
    const file = await bytesOf('/2026-09.jsonl.gz')
    assert.equal(months[1]?.url, '/api/v1/archive/2026-09.jsonl.gz')
    assert.equal(months[1]?.bytes, file.length)
    assert.equal(months[1]?.sha256, createHash('sha256').update(file).digest('hex'))
    assert.deepEqual([months[3]?.bytes, months[3]?.sha256], [null, null])
    const etag = response.headers.get('etag') ?? ''
    assert.equal((await get('', { 'if-none-match': etag })).status, 304)
  })

  test('has manifests of closed months, and their digests for sha256sum', async () => {
    const response = await get('/SHA256SUMS')
    const sums = await response.text()
    assert.equal(response.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
    assert.equal(sums.split('\n').length, 7)
    writeFileSync(join(node.directory, 'SHA256SUMS'), sums)
    for (const name of sums.matchAll(/\S+\.gz/g)) {
      writeFileSync(join(node.directory, name[0]), await bytesOf(`/${name[0]}`))
    }
    const check = spawnSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: node.directory })
    if (check.error === undefined) assert.equal(check.status, 0, check.stdout.toString())
    assert.equal(
      (await get('/2026-09.json')).headers.get('cache-control'),
      'public, max-age=31536000, immutable',
    )
    assert.equal((await get('/2026-11.json')).status, 404)
  })

  for (const name of [
    '2026-07.jsonl.gz',
    '2026-12.jsonl.gz',
    '9999-12.jsonl.gz',
    '0000-01.jsonl.gz',
    '2026-13.jsonl.gz',
    '2026-1.jsonl.gz',
    '2026-09.jsonl',
    '2026-09.JSONL.GZ',
    '2026-09.details.json',
    '2026-09',
    'CON.jsonl.gz',
    'sha256sums',
  ]) {
    test(`has no file ${name}`, async () => {
      const response = await get(`/${name}`)
      assert.equal(response.status, 404)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      assert.equal(((await response.json()) as { code: string }).code, 'month-not-found')
    })
  }

  test('suggests only a file that it has, and names its months', async () => {
    const detailOf = async (name: string): Promise<unknown> =>
      ((await (await get(`/${name}`)).json()) as { detail: string }).detail
    const range = 'The archive has 2026-08 to 2026-11. See /api/v1/archive.'
    assert.equal(await detailOf('2026-7.jsonl.gz'), range)
    assert.equal(await detailOf('2026-07.jsonl.gz'), range)
    assert.equal(await detailOf('2026-9.jsonl.gz'), `${range} Did you mean 2026-09.jsonl.gz?`)
    assert.equal(await detailOf('2026-11.csv'), `${range} Did you mean 2026-11.jsonl.gz?`)
    assert.equal(await detailOf('202611.json'), range)
  })

  test('refuses a path that leaves the archive', async () => {
    for (const name of ['/..%2f..%2fetc%2fpasswd', '/2026-09.jsonl.gz%00.txt', '/2026-09.jsonl.gz/x']) {
      assert.equal((await get(name)).status, 404)
    }
    assert.equal((await get(`/2026-09.jsonl.gz?from=1`)).status, 400)
  })

  test('sends the open month up to the head, with an ETag that changes with the head', async () => {
    const name = '/2026-11.jsonl.gz'
    const response = await get(name)
    assert.equal(response.headers.get('cache-control'), 'public, max-age=0, must-revalidate')
    assert.equal(response.headers.get('daybook-archive-state'), 'open')
    assert.equal(response.headers.get('daybook-last-seq'), '12348')
    assert.equal(response.headers.get('repr-digest'), null)
    const before_ = gunzipSync(await response.arrayBuffer()).toString()
    assert.equal(before_.split('\n').length, 301)
    const etag = response.headers.get('etag') ?? ''
    assert.equal((await get(name, { 'if-none-match': etag })).status, 304)

    publish(node.appender, [Date.UTC(2026, 10, 21)])
    const later = await get(name, { 'if-none-match': etag, range: 'bytes=0-1' })
    assert.equal(later.status, 200)
    assert.equal(later.headers.get('daybook-last-seq'), '12349')
    const after_ = gunzipSync(await later.arrayBuffer()).toString()
    assert.ok(after_.startsWith(before_))
    assert.equal(after_.split('\n').length, 302)
  })
})
