import { DaybookError } from './daybook-error.ts'

export type Bytes = Uint8Array<ArrayBuffer>
export type ByteStream = ReadableStream<Bytes>

/** The pieces of a body as they come. Leaving the loop closes its connection. */
export async function* piecesOf(body: ByteStream): AsyncGenerator<Bytes, void, undefined> {
  const reader = body.getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
  } finally {
    // Of a body that broke there is nothing to close.
    await reader.cancel().catch(() => undefined)
  }
}

/** Reads a body to its end; throws `too-large` when it has more than `bytesMax`. */
export async function readBytes(body: ByteStream, bytesMax: number): Promise<Bytes> {
  const pieces: Bytes[] = []
  let length = 0
  for await (const piece of piecesOf(body)) {
    length += piece.byteLength
    if (length > bytesMax) throw new DaybookError('too-large', `the answer has more than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}
