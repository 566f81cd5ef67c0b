import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Writable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { ImportDraft } from './import-draft.ts'

/** Characters gathered before they are written: larger pieces cost memory, smaller ones calls. */
const CHUNK_CHARS = 64 * 1024

/**
 * Writes drafts, or lines that are ready, as JSONL, gzipped if asked, then ends the stream. A stream that is
 * slow is waited for: memory stays at a few chunks whatever the number of drafts. Answers how many there were.
 */
export async function writeDrafts(
  stream: Writable,
  drafts: Iterable<ImportDraft | string>,
  options: Readonly<{ gzip?: boolean }> = {},
): Promise<number> {
  const counted = { drafts: 0 }
  const source = Readable.from(chunksOf(drafts, counted), { objectMode: false })
  await (options.gzip === true ? pipeline(source, createGzip(), stream) : pipeline(source, stream))
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
