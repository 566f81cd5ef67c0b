import { DaybookError } from './daybook-error.ts'

export type Body = ReadableStream<Uint8Array<ArrayBuffer>>

/** Reads a body to its end; throws `too-large` when it has more than `bytesMax`. */
export async function bytesOf(body: Body, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.byteLength
    if (length > bytesMax) {
      await reader.cancel()
      throw new DaybookError('too-large', `the answer has more than ${bytesMax} bytes`)
    }
    chunks.push(read.value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}
