import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { suite, test } from 'node:test'
import { constants, deflateRawSync, gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { codePoints } from '../../../test/story/code-points.ts'
import {
  EMPTY_SUM,
  GZIP_HEADER,
  addToSum,
  deflateSegment,
  gzipTrailer,
  inflatesTo,
  storeSegment,
  type RunningSum,
} from './gzip-member.ts'

function member(pieces: readonly Uint8Array[]): Buffer {
  const running = pieces.reduce<RunningSum>(addToSum, EMPTY_SUM)
  return Buffer.concat([GZIP_HEADER, ...pieces.map(deflateSegment), gzipTrailer(running)])
}

const bytes = (text: string): Uint8Array => Buffer.from(text)

/** Incompressible bytes, the same in every run. */
function noise(length: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length }, () => (state = (Math.imul(state, 48_271) >>> 0) % 2_147_483_647) & 255)
}

suite('a gzip member', () => {
  test('unpacks to its segments joined, however they were cut', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 300, unit: codePoints })), (texts) => {
        const pieces = texts.map(bytes)
        return gunzipSync(member(pieces)).equals(Buffer.concat(pieces))
      }),
    )
  })

  test('has twenty bytes when it is empty, and unpacks to nothing', () => {
    const empty = member([])
    assert.equal(empty.length, 20)
    assert.equal(gunzipSync(empty).length, 0)
    assert.equal(empty.toString('hex'), '1f8b08000000000000ff03000000000000000000')
  })

  test('contains no time, file name or system', () => {
    assert.equal(Buffer.from(GZIP_HEADER).toString('hex'), '1f8b08000000000000ff')
  })

  test('states its size modulo 2^32', () => {
    const trailer = gzipTrailer({ crc: 0xdeadbeef, bytes: 2 ** 32 + 5 })
    assert.equal(Buffer.from(trailer).toString('hex'), '0300efbeadde05000000')
  })

  test('has an empty segment for no bytes, and one that ends with the flush marker otherwise', () => {
    assert.equal(deflateSegment(bytes('')).length, 0)
    assert.equal(Buffer.from(deflateSegment(bytes('{"seq":1}\n')).subarray(-4)).toString('hex'), '0000ffff')
  })

  for (const length of [1, 255, 4096, 16_383, 16_384, 65_535, 65_536, 300_000]) {
    test(`has one flush marker at the end of ${length} incompressible bytes`, () => {
      const raw = noise(length)
      const segment = deflateSegment(raw)
      assert.ok(gunzipSync(member([raw, raw])).equals(Buffer.concat([raw, raw])))
      assert.deepEqual(deflateSegment(Uint8Array.from(raw)), segment)
      assert.notEqual(Buffer.from(segment.subarray(-9)).toString('hex'), '0000ffff000000ffff')
    })
  }

  test('has segments without compression too, which do not depend on zlib', () => {
    for (const length of [1, 65_535, 65_536, 200_000]) {
      const raw = noise(length)
      const stored = storeSegment(raw)
      assert.equal(stored.length, length + 5 * Math.ceil(length / 65_535))
      assert.ok(inflatesTo(stored, raw))
    }
    assert.equal(storeSegment(bytes('')).length, 0)
  })

  test('is joined only from segments that hold exactly their lines, and do not end the deflate stream', () => {
    const raw = bytes('{"seq":1}\n'.repeat(100))
    const segment = deflateSegment(raw)
    assert.ok(inflatesTo(segment, raw))
    assert.ok(!inflatesTo(segment, raw.subarray(1)))
    assert.ok(!inflatesTo(segment.subarray(0, -1), raw))
    assert.ok(!inflatesTo(deflateRawSync(raw), raw), 'it ends the stream')
    assert.ok(
      !inflatesTo(deflateRawSync(raw, { finishFlush: constants.Z_PARTIAL_FLUSH }), raw),
      'not at a byte',
    )
    assert.ok(!inflatesTo(Buffer.concat([segment, bytes('x')]), raw))
  })

  test('is accepted by gzip and by DecompressionStream', async () => {
    const pieces = [bytes('{"seq":1}\n'.repeat(1000)), bytes(''), bytes('{"seq":2}\n')]
    const whole = Buffer.concat(pieces)
    const file = member(pieces)
    const gzip = spawnSync('gzip', ['-dc'], { input: file })
    // Without gzip the two other readers suffice.
    if (gzip.error === undefined) {
      assert.equal(gzip.status, 0, gzip.stderr.toString())
      assert.ok(gzip.stdout.equals(whole))
    }
    const unpacked = new Blob([Uint8Array.from(file)]).stream().pipeThrough(new DecompressionStream('gzip'))
    assert.ok(Buffer.from(await new Response(unpacked).arrayBuffer()).equals(whole))
  })

  test('is refused by a reader when one of its bytes was changed', () => {
    const file = member([bytes('{"seq":1}\n{"seq":2}\n')])
    const middle = file.length - 4
    file[middle] = (file[middle] ?? 0) ^ 1
    assert.throws(() => gunzipSync(file))
  })
})
