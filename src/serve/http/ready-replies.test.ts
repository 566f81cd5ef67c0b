import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { BODY_ENCODING, bodyOf, openReadyReplies, type ReadyReply } from './ready-replies.ts'

const tally = { add: () => undefined }

function reply(bytes: number): ReadyReply {
  return { tally, etag: '"a"', headers: [], unchanged: [], body: new Uint8Array(bytes) }
}

suite('the ready replies', () => {
  test('are the ones used last, within their bytes', () => {
    const replies = openReadyReplies(64 * 1024)
    replies.set('/used', 'any', reply(4_000))
    for (let index = 0; index < 100; index += 1) {
      replies.set(`/${index}`, 'any', reply(4_000))
      assert.ok(replies.get('/used') !== undefined, `after ${index} others`)
    }
    const kept = Array.from({ length: 100 }, (_, index) => replies.get(`/${index}`) !== undefined)
    assert.equal(kept[99], true)
    assert.equal(kept[0], false)
    assert.ok(kept.filter(Boolean).length < 16)
  })

  test('count their targets, which a link to the next page repeats', () => {
    const replies = openReadyReplies(64 * 1024)
    const targets = Array.from({ length: 100 }, (_, index) => `/${index}?`.padEnd(4_000, 'a'))
    for (const target of targets) replies.set(target, 'any', reply(10))
    const kept = targets.filter((target) => replies.get(target) !== undefined)
    assert.ok(kept.length > 0 && kept.length <= 8, `${kept.length} are kept`)
  })

  test('have a form for each coding', () => {
    const replies = openReadyReplies()
    const [plain, gzip] = [reply(2_000), reply(200)]
    replies.set('/page', 'identity', plain)
    replies.set('/page', 'gzip', gzip)
    replies.set('/page', 'gzip', reply(200))
    assert.equal(replies.get('/page')?.get('identity'), plain)
    assert.equal(replies.get('/page')?.get('gzip'), gzip)
    assert.equal(replies.get('/page')?.get('br'), undefined)
  })

  test('leave out a reply that would evict many others', () => {
    const replies = openReadyReplies(64 * 1024)
    replies.set('/large', 'any', reply(17 * 1024))
    assert.equal(replies.get('/large'), undefined)
  })
})

test('a body kept as a string is written as the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000, size: 'max' }), (bytes) => {
      const body = bodyOf(bytes)
      const written = typeof body === 'string' ? Buffer.from(body, BODY_ENCODING) : Buffer.from(body)
      assert.ok(written.equals(bytes))
    }),
    { numRuns: 50 },
  )
})
