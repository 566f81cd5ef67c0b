import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js'
import { linesOf } from '../../client/lines.ts'
import type { ArchiveManifest, Digest } from '../../protocol/resources.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { appendLeaf, frontierAt, rootOf, tilesOfFrontier } from '../../tlog/frontier.ts'
import { formatBase64, formatHex } from '../../tlog/text.ts'
import type { Log, Steps } from './island-verify-log.ts'
import { hasher, no, right, served, signedCheckpoint, tileReader, unchecked } from './island-verify-log.ts'

/** A file of a month as it comes: its lines, and afterwards what was wrong with its bytes. */
type MonthFile = Readonly<{ lines: AsyncGenerator<string>; fault(): string | undefined }>

/**
 * Whether the files of a closed month hold what the log signed at its end: every line is hashed anew, onto the tree
 * of the months before it. The page answers in between.
 */
export async function* checkMonth(log: Log, month: string): Steps {
  const manifest: ArchiveManifest = await (await served(log, `archive/${month}.json`)).json()
  const signed = yield* signedCheckpoint(log, manifest.checkpoint)
  if (signed === undefined) return
  const { size, root, firstIndex, firstSeq, lastSeq, events } = manifest
  if (signed.size !== size || formatBase64(signed.root) !== root) {
    return yield* no('The manifest of the month says another tree than the checkpoint in it')
  }
  if (firstIndex === null || firstSeq === null) {
    yield right('The month has no events')
    return
  }
  const tiles = await tileReader(log, tilesOfFrontier(firstIndex))
  const frontier = frontierAt(hasher, firstIndex, tiles)
  const file = await open(log, `${month}.jsonl.gz`, manifest.gzip)
  const beside = await open(log, `${month}.details.jsonl.gz`, manifest.details)

  let seq = firstSeq
  let next = await nextDetails(beside)
  for await (const line of file.lines) {
    if (seqOf(line) !== seq) return yield* no(`Event #${seq} is missing, or another stands in its place`)
    const details = next.seq === seq ? next.line : null
    if (details !== null) next = await nextDetails(beside)
    appendLeaf(hasher, frontier, hasher.leaf(formatEntry(line, details)))
    seq += 1
  }
  if (next.line !== null) return yield* no('There are details of an event that is not of the month')
  for (const fault of [file.fault(), beside.fault()]) if (fault !== undefined) return yield* no(fault)
  yield right('Both files have the size and SHA-256 that the manifest of the month says')
  if (seq - 1 !== lastSeq || seq - firstSeq !== events) {
    return yield* no(`The month has ${seq - firstSeq} events, and its manifest says ${events}`)
  }
  yield right(`The ${events} events #${firstSeq} to #${lastSeq} are all there, in order`)
  if (formatBase64(rootOf(hasher, frontier)) !== root) {
    return yield* no('Their hashes do not lead to the root that the log signed')
  }
  yield right(`Their hashes lead to the root that the log signed after the month, of ${size} events`)
  yield unchecked('Whether the figures follow from these events is computed by daybook verify, not here')
}

async function nextDetails({ lines }: MonthFile): Promise<Readonly<{ seq: number; line: string | null }>> {
  const next = await lines.next()
  return next.done === true ? { seq: 0, line: null } : { seq: seqOf(next.value), line: next.value }
}

function seqOf(line: string): number {
  const said: { seq?: unknown } = JSON.parse(line)
  return typeof said.seq === 'number' ? said.seq : Number.NaN
}

async function open(log: Log, name: string, said: Digest): Promise<MonthFile> {
  const { body } = await served(log, `archive/${name}`)
  if (body === null) throw new Error(`${name} is empty`)
  const running = nobleSha256.create()
  let bytes = 0
  const hashed = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, out) {
      running.update(piece)
      bytes += piece.length
      out.enqueue(piece)
    },
  })
  const batches = linesOf(body.pipeThrough(hashed).pipeThrough(new DecompressionStream('gzip')))
  return {
    lines: oneByOne(batches),
    fault() {
      if (bytes !== said.bytes) return `${name} has not as many bytes as the manifest of the month says`
      const digest = formatHex(running.digest())
      return digest === said.sha256 ? undefined : `The SHA-256 of ${name} is not the manifest's`
    },
  }
}

/** Lines one by one; between two pieces of the file the page may answer its reader. */
async function* oneByOne(batches: AsyncGenerator<readonly string[]>): AsyncGenerator<string> {
  for await (const lines of batches) {
    yield* lines
    await new Promise((resolve) => {
      setTimeout(resolve)
    })
  }
}
