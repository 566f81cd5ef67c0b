import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ImportDraft } from './import-draft.ts'

/** Characters of one write. Larger pieces need more memory, smaller ones more calls. */
const CHUNK_CHARS = 64 * 1024

/**
 * Writes drafts, or finished lines, as JSON lines, then ends the stream. Waits for a slow stream, so that memory stays
 * at a few chunks. Returns the number of drafts.
 */
export async function writeDrafts(stream: Writable, drafts: Iterable<ImportDraft | string>): Promise<number> {
  const counted = { drafts: 0 }
  const source = Readable.from(chunksOf(drafts, counted), { objectMode: false })
  await pipeline(source, stream)
  return counted.drafts
}

function* chunksOf(drafts: Iterable<ImportDraft | string>, counted: { drafts: number }): Generator<Buffer> {
  let chunk = ''
  for (const draft of drafts) {
    chunk += `${typeof draft === 'string' ? draft : JSON.stringify(draft)}\n`
    counted.drafts++
    if (chunk.length < CHUNK_CHARS) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}
