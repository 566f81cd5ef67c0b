import assert from 'node:assert/strict'
import { inflateSync } from 'node:zlib'

/** A decoded picture: four bytes a pixel, red, green, blue and alpha. */
type Pixels = Readonly<{ width: number; height: number; rgba: Uint8Array }>

const SIGNATURE = '89504e470d0a1a0a'
const CHANNELS = 4

/** Decodes a PNG with eight bits a channel, with alpha and without interlacing; fails for any other file. */
export function decodePng(bytes: Uint8Array): Pixels {
  const file = Buffer.from(bytes)
  assert.equal(file.toString('hex', 0, 8), SIGNATURE)
  const parts: Buffer[] = []
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') {
      parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)))
    }
  }
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  assert.deepEqual([...file.subarray(24, 29)], [8, 6, 0, 0, 0], 'eight bits, RGBA, not interlaced')
  return { width, height, rgba: unfilter(inflateSync(Buffer.concat(parts)), width * CHANNELS, height) }
}

/** Undoes the filter of each row (PNG specification, section 9). */
function unfilter(filtered: Uint8Array, stride: number, height: number): Uint8Array {
  const out = new Uint8Array(stride * height)
  for (let row = 0; row < height; row++) {
    const filter = filtered[row * (stride + 1)] ?? 0
    for (let x = 0; x < stride; x++) {
      const at = row * stride + x
      const left = x < CHANNELS ? 0 : (out[at - CHANNELS] ?? 0)
      const up = row === 0 ? 0 : (out[at - stride] ?? 0)
      const corner = row === 0 || x < CHANNELS ? 0 : (out[at - stride - CHANNELS] ?? 0)
      const added = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0
      out[at] = (filtered[row * (stride + 1) + 1 + x] ?? 0) + added
    }
  }
  return out
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

/** Number of pixels of a colour in a part of a picture. */
export function countPixels(
  { width, rgba }: Pixels,
  [left, top, right, bottom]: readonly [number, number, number, number],
  [red, green, blue]: readonly [number, number, number],
): number {
  let count = 0
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const at = (y * width + x) * CHANNELS
      if (rgba[at] === red && rgba[at + 1] === green && rgba[at + 2] === blue) count += 1
    }
  }
  return count
}
