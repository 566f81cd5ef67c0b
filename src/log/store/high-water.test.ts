import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { crc32 } from 'node:zlib'
import { redirect } from '../../../test/crash/redirected-file.ts'
import { HIGH_WATER_FILE, type HighWater, markHighWater, openHighWater, readHighWater } from './high-water.ts'
import { StoreError } from './store.ts'

const PLACE_BYTES = 4_096

function markOf(size: number): HighWater {
  return { log: 'a'.repeat(32), checkpoint: `daybook.test/log\n${size}\nroot\n`, former: [] }
}

suite('the high-water mark', () => {
  let data = ''
  const path = (): string => join(data, HIGH_WATER_FILE)
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'daybook-mark-'))
  })
  afterEach(() => rmSync(data, { recursive: true }))

  /** Writes marks of these sizes as the writer does. */
  function write(...sizes: readonly number[]): void {
    using mark = openHighWater(data)
    for (const size of sizes) mark.write(markOf(size))
  }

  test('is null without a file', () => assert.equal(readHighWater(data), null))

  test('is the newest that was written, for every reader', () => {
    for (let size = 1; size <= 5; size += 1) {
      markHighWater(data, markOf(size))
      assert.deepEqual(readHighWater(data), markOf(size))
      write(size * 10, size * 10 + 1)
      assert.deepEqual(readHighWater(data), markOf(size * 10 + 1))
    }
  })

  test('is in a file for its owner only, which never grows and is complete when it has its name', () => {
    markHighWater(data, markOf(1))
    const { size, mode } = statSync(path())
    assert.equal(mode & 0o777, 0o600)
    write(...Array.from({ length: 20 }, (_, index) => index))
    assert.equal(statSync(path()).size, size)
    assert.deepEqual(readdirSync(data), [HIGH_WATER_FILE])
    // The remains of a start that was killed while it made the file.
    rmSync(path())
    writeFileSync(`${path()}.making`, 'the rest of an attempt')
    assert.equal(readHighWater(data), null)
    markHighWater(data, markOf(2))
    assert.deepEqual(readHighWater(data), markOf(2))
    assert.equal(existsSync(`${path()}.making`), false)
  })

  test('whose write failed is written again in the same place, beside the whole one', () => {
    markHighWater(data, markOf(1))
    using mark = openHighWater(data)
    mark.write(markOf(2))
    redirect(path(), '/dev/full')
    assert.throws(() => mark.write(markOf(3)), /ENOSPC/)
    redirect('/dev/full', path())
    mark.write(markOf(4))
    assert.deepEqual(readHighWater(data), markOf(4))
    const bytes = readFileSync(path())
    for (const torn of [0, PLACE_BYTES]) {
      writeFileSync(path(), Buffer.from(bytes).fill(0, torn, torn + PLACE_BYTES))
      assert.ok([2, 4].some((size) => isDeepStrictEqual(readHighWater(data), markOf(size))))
    }
  })

  test('is the previous one after a write torn at any byte, until the next write', () => {
    markHighWater(data, markOf(1))
    write(2)
    const before = readFileSync(path())
    write(3)
    const after = readFileSync(path())
    let torn = 0
    for (let bytes = 0; bytes <= PLACE_BYTES; bytes += 1) {
      // The third mark's place has the first bytes of that mark and the rest of the former one.
      const start = before.subarray(0, PLACE_BYTES).equals(after.subarray(0, PLACE_BYTES)) ? PLACE_BYTES : 0
      const file = Buffer.from(before)
      after.copy(file, start, start, start + bytes)
      writeFileSync(path(), file)
      const size = file.equals(after) ? 3 : 2
      assert.deepEqual(readHighWater(data), markOf(size), `torn at byte ${bytes}`)
      if (size === 2) torn += 1
      if (bytes % 512 > 0) continue
      write(4)
      assert.deepEqual(readHighWater(data), markOf(4))
    }
    assert.ok(torn > 50, `${torn} states were torn`)
  })

  test('is the older one when a bit of the newer is flipped, and an error when both are damaged', () => {
    markHighWater(data, markOf(1))
    write(2)
    const whole = readFileSync(path())
    for (let at = 0; at < whole.length; at += 97) {
      const file = Buffer.from(whole)
      file[at] = (file[at] ?? 0) ^ (1 << (at % 8))
      writeFileSync(path(), file)
      assert.deepEqual(readHighWater(data)?.log, markOf(1).log)
      file[(at + PLACE_BYTES) % file.length] = ~(file[(at + PLACE_BYTES) % file.length] ?? 0)
      writeFileSync(path(), file)
      assert.throws(() => readHighWater(data), /holds no high-water mark/)
    }
  })

  test('is an error when something else wrote the file', () => {
    const summed = (json: string): Buffer => {
      const place = Buffer.alloc(PLACE_BYTES)
      place.write(json, 4)
      place.writeUInt32LE(crc32(place.subarray(4)))
      return place
    }
    const foreign = [
      '',
      'a text',
      Buffer.alloc(2 * PLACE_BYTES),
      Buffer.alloc(2 * PLACE_BYTES, 0xff),
      summed('no JSON'),
      summed('null'),
      summed('{}'),
      summed('{"turn":"1","log":"a","checkpoint":"b","former":[]}'),
      summed('{"turn":1,"log":"a","checkpoint":"b","former":[{"id":1}]}'),
    ]
    for (const content of foreign) {
      writeFileSync(path(), content)
      assert.throws(() => readHighWater(data), StoreError)
    }
  })

  test('has no place when its own is none that Daybook writes', () => {
    for (const [own, read] of [
      [7, 7],
      ...[null, 'a text', {}, true].map((other) => [other, undefined] as const),
    ] as const) {
      const json = Buffer.from(JSON.stringify({ turn: 1, ...markOf(3), place: own }))
      const place = Buffer.alloc(PLACE_BYTES)
      place.set(json, 4)
      place.writeUInt32LE(crc32(place.subarray(4)))
      writeFileSync(path(), place)
      assert.deepEqual(readHighWater(data), { ...markOf(3), ...(read !== undefined && { place: read }) })
    }
  })

  test('keeps its size however often a loss was accepted', () => {
    const former = Array.from({ length: 1_000 }, (_, size) => ({ id: 'b'.repeat(32), size }))
    markHighWater(data, { ...markOf(1), former })
    const kept = readHighWater(data)?.former ?? []
    assert.ok(kept.length > 0 && kept.at(-1)?.size === 999, 'the newest are kept')
  })
})
