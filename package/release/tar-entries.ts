import { gunzipSync } from 'node:zlib'

/** An entry of a tar archive. `modifiedSeconds` counts from 1970. */
export type TarEntry = Readonly<{ path: string; mode: number; modifiedSeconds: number; content: Buffer }>

const BLOCK_BYTES = 512

/** Entries of a gzipped tar archive in the ustar form that npm writes, in order. */
export function tarEntriesOf(gzipped: Uint8Array): readonly TarEntry[] {
  const bytes = gunzipSync(gzipped)
  const entries: TarEntry[] = []
  for (let at = 0; bytes[at] !== undefined && bytes[at] !== 0;) {
    const text = (from: number, length: number): string =>
      bytes.toString('utf8', at + from, at + from + length).replace(/\0[^]*$/, '')
    const octal = (from: number, length: number): number => Number.parseInt(text(from, length), 8)
    const [size, prefix] = [octal(124, 12), text(345, 155)]
    const start = at + BLOCK_BYTES
    entries.push({
      path: prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`,
      mode: octal(100, 8),
      modifiedSeconds: octal(136, 12),
      content: bytes.subarray(start, start + size),
    })
    at = start + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES
  }
  return entries
}
