import { openRequestIds } from '../http/problem-document.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import { type ReplyTerms, respond } from './respond.ts'
import type { Reply } from '../http/route.ts'

const TERMS: ReplyTerms = {
  requestNumber: 1,
  requestIds: openRequestIds('test'),
  head: false,
  ifNoneMatch: undefined,
  acceptEncoding: 'gzip',
  problemBase: '/api/problems',
  common: ['X-Common', 'yes'],
  revalidated: false,
  allowance: ['RateLimit', '"default";r=1;t=1'],
}
const LONG = 'a long body, '.repeat(200)

/** Answer that a client gets for one reply to these headers. */
async function answered(reply: Reply, terms: Partial<ReplyTerms> = {}): Promise<Response> {
  const server = createServer((_, response) => {
    void respond(response, { ...TERMS, ...terms }, reply)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: terms.head === true ? 'HEAD' : 'GET' })
  const body = await response.arrayBuffer()
  server.close()
  server.closeAllConnections()
  const { status, headers } = response
  return new Response([204, 304].includes(status) ? null : body, { status, headers })
}

suite('a reply', () => {
  const long = { is: 'body', keep: 'revalidate', etag: '"a"', type: 'text/plain', body: LONG } as const

  test('in memory is compressed if it is long, and its ETag is weak', async () => {
    const response = await answered(long)
    assert.equal(response.headers.get('content-encoding'), 'gzip')
    assert.equal(response.headers.get('etag'), 'W/"a"')
    assert.equal(response.headers.get('vary'), 'Accept-Encoding')
    assert.equal(await response.text(), LONG)
  })

  test('that is never compressed keeps its strong ETag', async () => {
    const response = await answered({ ...long, compress: false })
    assert.equal(response.headers.get('content-encoding'), null)
    assert.equal(response.headers.get('etag'), '"a"')
    assert.equal(response.headers.get('vary'), null)
  })

  test('that the caller has already is 304 with the ETag of its 200', async () => {
    for (const compress of [true, false]) {
      const full = await answered({ ...long, compress })
      const same = await answered({ ...long, compress }, { ifNoneMatch: '"a"' })
      const told = await answered({ is: 'unchanged', keep: 'revalidate', etag: '"a"', compress })
      for (const { status, headers } of [same, told]) {
        assert.equal(status, 304)
        assert.equal(headers.get('etag'), full.headers.get('etag'))
        assert.equal(headers.get('vary'), full.headers.get('vary'))
        assert.equal(headers.get('cache-control'), full.headers.get('cache-control'))
      }
    }
  })

  test('that never changes says nothing about a caller’s allowance', async () => {
    const response = await answered({ ...long, keep: 'immutable', etag: 'of-content' })
    assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(response.headers.get('ratelimit'), null)
    assert.equal((await answered(long)).headers.get('ratelimit'), '"default";r=1;t=1')
  })

  test('with a file is sent in chunks, uncompressed, with its own headers', async () => {
    const chunks = () => [Buffer.from('one '), Buffer.from('two')]
    const headers = { 'Accept-Ranges': 'bytes' }
    const file = { is: 'file', status: 206, type: 'application/gzip', keep: 'immutable', headers } as const
    const response = await answered({ ...file, etag: '"f"', bytes: 7, chunks })
    assert.equal(response.status, 206)
    assert.equal(response.headers.get('content-length'), '7')
    assert.equal(response.headers.get('content-encoding'), null)
    assert.equal(response.headers.get('accept-ranges'), 'bytes')
    assert.equal(await response.text(), 'one two')
  })

  test('to HEAD has headers only, and no chunk is read', async () => {
    const chunks = (): Iterable<Uint8Array> => {
      throw new Error('made for nobody')
    }
    const file = { is: 'file', status: 200, type: 'text/plain', keep: 'revalidate', etag: null } as const
    const response = await answered({ ...file, bytes: 7, chunks }, { head: true })
    assert.equal(response.headers.get('content-length'), '7')
    assert.equal(await response.text(), '')
  })

  test('with a problem says when to retry, and is never cached', async () => {
    const problem = { code: 'rate-limited', detail: 'Too many.', retryAfterSeconds: 7 } as const
    const response = await answered({ is: 'problem', problem, headers: { Allow: 'GET' } })
    assert.equal(response.status, 429)
    assert.equal(response.headers.get('retry-after'), '7')
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.get('allow'), 'GET')
    assert.deepEqual(await response.json(), {
      type: '/api/problems/rate-limited',
      title: 'Too many requests',
      status: 429,
      detail: 'Too many.',
      code: 'rate-limited',
    })
  })
})

test('a body that its caller has is not kept as the compressed answer to others', async () => {
  const kept: string[] = []
  const onWritten: ReplyTerms['onWritten'] = ({ coding }, { status }) => kept.push(`${status} ${coding}`)
  const long = { is: 'body', keep: 'revalidate', etag: '"a"', type: 'text/plain', body: LONG } as const
  assert.equal((await answered(long, { ifNoneMatch: '"a"', onWritten })).status, 304)
  assert.deepEqual(kept, [])
  await answered(long, { onWritten })
  assert.deepEqual(kept, ['200 gzip'])
})

test('a short body, which is written as a string, keeps its bytes', async () => {
  const bytes = Uint8Array.from({ length: 3_000 }, (_, index) => index % 256)
  const reply = {
    is: 'body',
    keep: 'no-store',
    etag: null,
    type: 'application/octet-stream',
    body: bytes,
    compress: false,
  } as const
  const response = await answered(reply)
  assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes)
})
