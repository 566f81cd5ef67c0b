import { streamLines } from '../../client/lines.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { ArchiveManifest, Digest } from '../../protocol/resources.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { appendLeaf, frontierAt, rootOf, tilesOfFrontier } from '../../tlog/frontier.ts'
import { isSame } from '../../tlog/hash.ts'
import { formatBase64, formatHex } from '../../tlog/text.ts'
import type { Log, CheckSteps } from './island-verify-log.ts'
import {
  hasher,
  fetchNewestCheckpoint,
  no,
  right,
  servedBytes,
  servedText,
  hashNow,
  signedCheckpoint,
  tileReader,
  unchecked,
} from './island-verify-log.ts'
import type { Sums } from './island-verify-sums.ts'
import { checkFlows, openSums, sumUp } from './island-verify-sums.ts'
import { grown, provedEvent } from './island-verify-tree.ts'

/**
 * Whether the files of a closed month hold what the log signed at its end: every line is hashed anew, onto the tree
 * of the months before it, and the events before the first and after the last are proved to be of other months.
 */
export async function* checkMonth(log: Log, month: string): CheckSteps {
  const lacking = `The month ${month} is not closed yet, or the log has no such month`
  const manifest: ArchiveManifest = JSON.parse(await servedText(log, `archive/${month}.json`, lacking))
  const signed = yield* signedCheckpoint(log, manifest.checkpoint)
  if (signed === undefined) return
  const { size, root } = signed
  const { events } = manifest
  const before = size - events
  if (manifest.month !== month || manifest.size !== size || manifest.root !== formatBase64(root)) {
    return yield* no('The manifest is of another month, or says another tree than the checkpoint in it')
  }
  if (!(before >= 0) || events < 0 || (events > 0 && manifest.firstIndex !== before)) {
    return yield* no('The manifest of the month does not say where its events stand')
  }
  const sums = openSums()
  const ofMonth = yield* hashed(log, manifest, before, sums)
  if (ofMonth === undefined) return
  if (!isSame(ofMonth, root))
    return yield* no('The hashes of the month do not lead to the root that was signed')
  yield right(`The hashes of its ${events} events lead to the root that was signed after the month`)

  if (before > 0) {
    const earlier = yield* provedEvent(log, signed, before)
    if (earlier === undefined) return
    if (earlier.at >= month) return yield* no(`Event #${before} is of the month too, and is not in its file`)
  }
  const now = yield* fetchNewestCheckpoint(log)
  if (now === undefined) return
  if ((yield* grown(log, signed, now, 'the end of the month')) === undefined) return
  const later = yield* provedEvent(log, now, size + 1)
  if (later === undefined) return
  if (monthOf(later) <= month)
    return yield* no(`Event #${size + 1} is of the month too, and is not in its file`)
  yield right('The events before and after those of the file are of other months: none is left out')
  if ((yield* checkFlows(log, month, signed, sums)) === undefined) return
  yield unchecked('Every other figure is computed by daybook verify, not here')
}

/** The root over the log up to the month's end, from its files; the page answers in between. */
async function* hashed(
  log: Log,
  { month, gzip, details }: ArchiveManifest,
  before: number,
  sums: Sums,
): CheckSteps<Uint8Array> {
  const frontier = frontierAt(hasher, before, await tileReader(log, tilesOfFrontier(before)))
  const file = await unpacked(log, `${month}.jsonl.gz`, gzip)
  const beside = await unpacked(log, `${month}.details.jsonl.gz`, details)
  if (file === undefined || beside === undefined) {
    return yield* no('A file has not the size and SHA-256 that the manifest of the month says')
  }
  yield right('Both files have the size and SHA-256 that the manifest of the month says')
  let next = await nextDetails(beside)
  let seq = before
  for await (const line of file) {
    seq += 1
    const event: EventWire = JSON.parse(line)
    if (event.seq !== seq) return yield* no(`Event #${seq} is missing, or another stands in its place`)
    if (monthOf(event) !== month) return yield* no(`Event #${seq} is not of the month`)
    const said = next.seq === seq ? next.line : null
    if (said !== null) next = await nextDetails(beside)
    appendLeaf(hasher, frontier, hasher.leaf(formatEntry(line, said)))
    sumUp(sums, event, said)
  }
  if (next.line !== null) return yield* no('There are details of an event that is not of the month')
  yield right(`Its file has ${seq - before} events, in order, and all are of the month`)
  return rootOf(hasher, frontier)
}

const monthOf = ({ at }: EventWire): string => at.slice(0, 7)

type Details = Readonly<{ seq: number; line: string | null }>

async function nextDetails(lines: AsyncGenerator<string>): Promise<Details> {
  const next = await lines.next()
  if (next.done === true) return { seq: 0, line: null }
  const { seq }: { seq: number } = JSON.parse(next.value)
  return { seq, line: next.value }
}

/** The lines of a file; undefined where it is another than the one that is said. */
async function unpacked(log: Log, name: string, said: Digest): Promise<AsyncGenerator<string> | undefined> {
  const bytes = await servedBytes(log, `archive/${name}`)
  if (bytes.length !== said.bytes || formatHex(hashNow(bytes)) !== said.sha256) return undefined
  return oneByOne(streamLines(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))))
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
