import { DaybookError } from './daybook-error.ts'

export type Bytes = Uint8Array<ArrayBuffer>
export type ByteStream = ReadableStream<Bytes>

/** Pieces of a body as they arrive. Leaving the loop closes the connection. */
export async function* piecesOf(body: ByteStream): AsyncGenerator<Bytes, void, undefined> {
  const reader = body.getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value
  } finally {
    // Cancelling a broken body rejects, although nothing is left to close.
    await reader.cancel().catch(() => undefined)
  }
}

/** Reads a body to its end. Throws `too-large` beyond `bytesMax`. */
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
