import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { CODINGS, compress, negotiate } from './coding.ts'

suite('Accept-Encoding', () => {
  const rows: readonly (readonly [string | undefined, string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1.0, br;q=0.5', 'gzip'],
    ['br;q=0', undefined],
    ['*', 'zstd'],
    ['*;q=0.5, zstd;q=0', 'br'],
    ['*;q=0', undefined],
    ['gzip;q=0.5, identity', undefined],
    ['gzip, identity', 'gzip'],
    ['gzip;q=banana', undefined],
    ['deflate', undefined],
  ]
  for (const [sent, coding] of rows) {
    test(`${sent} selects ${coding ?? 'no compression'}`, () => assert.equal(negotiate(sent), coding))
  }
})

suite('a compressed body', () => {
  const body = new TextEncoder().encode('{"events":[]}'.repeat(500))
  const inverses = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync }

  for (const coding of CODINGS) {
    test(`in ${coding} decompresses to the same bytes`, async () => {
      const packed = await compress(body, coding)
      assert.ok(packed.byteLength < body.byteLength)
      assert.deepEqual(new Uint8Array(inverses[coding](packed)), body)
    })
  }

  test('is compressed once for simultaneous requests', () => {
    assert.equal(compress(body, 'br'), compress(body, 'br'))
  })
})
