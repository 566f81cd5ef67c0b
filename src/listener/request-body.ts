import type { IncomingMessage } from 'node:http'
import { assert } from '../protocol/brand.ts'

/** End of the reading of a body: all of it was read, it has too many bytes, or its reader wanted no more. */
type BodyEnd = 'whole' | 'too-long' | 'left'

/**
 * Reads the body of a request in pieces until `take` returns false, `left` settles, or the body has more than `bytesMax`
 * bytes. The connection stays open, so that an answer can be sent; Node throws the rest of the body away after it.
 */
export async function readPieces(
  request: IncomingMessage,
  bytesMax: number,
  take: (piece: Buffer) => boolean | Promise<boolean>,
  left: Promise<null> | null = null,
): Promise<BodyEnd> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return 'too-long'
  const pieces = request.iterator({ destroyOnReturn: false })
  for (let bytes = 0; ;) {
    const next = await (left === null ? pieces.next() : Promise.race([pieces.next(), left]))
    if (next === null) return 'left'
    if (next.done === true) return 'whole'
    const piece: unknown = next.value
    assert(Buffer.isBuffer(piece), 'a request body comes as bytes')
    bytes += piece.length
    if (bytes > bytesMax) return 'too-long'
    if (!(await take(piece))) return 'left'
  }
}

/** Reads the body of a request. `bytes` are all of it when `end` is `whole`. */
export async function readWhole(
  request: IncomingMessage,
  bytesMax: number,
  take: (piece: Buffer) => boolean = () => true,
  left: Promise<null> | null = null,
): Promise<Readonly<{ end: BodyEnd; bytes: Buffer }>> {
  const pieces: Buffer[] = []
  const end = await readPieces(request, bytesMax, (piece) => take(piece) && pieces.push(piece) > 0, left)
  return { end, bytes: Buffer.concat(pieces) }
}
