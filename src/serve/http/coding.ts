import { promisify } from 'node:util'
import {
  brotliCompress,
  brotliCompressSync,
  type BrotliOptions,
  constants,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib'
import { weightsOf } from './accept.ts'

/** Content codings offered, in our order of preference. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/** Smallest body that is compressed, in bytes. Below it the headers outweigh the saving. */
export const CODED_BYTES_MIN = 1_024

/** Our preferred coding that an `Accept-Encoding` allows; undefined means uncompressed. */
export function negotiate(acceptEncoding: string | undefined): Coding | undefined {
  if (acceptEncoding === undefined) return undefined
  const weights = weightsOf(acceptEncoding.replace('x-gzip', 'gzip'))
  let best: Coding | undefined
  let bestWeight = weights.get('identity') ?? 0
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    // `identity` is acceptable unless it is refused, but a named coding is preferred.
    if (weight > 0 && (best === undefined ? weight >= bestWeight : weight > bestWeight)) {
      best = coding
      bestWeight = weight
    }
  }
  return best
}

const BROTLI = (bytes: number): BrotliOptions => ({
  params: {
    // Higher qualities cost tens of milliseconds a page and save a few per cent.
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
  },
})

const compressors: Readonly<Record<Coding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  zstd: promisify<Uint8Array, Uint8Array>((body, done) => zstdCompress(body, done)),
  br: promisify<Uint8Array, Uint8Array>((body, done) => brotliCompress(body, BROTLI(body.byteLength), done)),
  gzip: promisify<Uint8Array, Uint8Array>((body, done) => gzip(body, done)),
}

/** Compresses a body synchronously, for threads that serve no other requests. */
export function compressHere(body: Uint8Array, coding: Coding): Uint8Array {
  switch (coding) {
    case 'zstd':
      return zstdCompressSync(body)
    case 'br':
      return brotliCompressSync(body, BROTLI(body.byteLength))
    case 'gzip':
      return gzipSync(body)
  }
}

const compressed = new WeakMap<Uint8Array, Map<Coding, Promise<Uint8Array>>>()

/** Compresses a body. All callers share the compression of the same array, so it must not change. */
export function compress(body: Uint8Array, coding: Coding): Promise<Uint8Array> {
  const codings = compressed.get(body) ?? new Map<Coding, Promise<Uint8Array>>()
  compressed.set(body, codings)
  const known = codings.get(coding)
  if (known !== undefined) return known
  const made = compressors[coding](body)
  codings.set(coding, made)
  // A failure is not cached.
  made.catch(() => codings.delete(coding))
  return made
}
