import { streamLines } from '../../client/lines.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { ArchiveManifest, Digest } from '../../protocol/resources.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { appendLeaf, frontierAt, rootOf, tilesOfFrontier } from '../../tlog/frontier.ts'
import { isSame } from '../../tlog/hash.ts'
import { formatBase64, formatHex } from '../../tlog/text.ts'
import type { OnChain } from './island-verify-fields.ts'
import {
  type CheckSteps,
  failed,
  fetchNewestCheckpoint,
  hasher,
  type Log,
  passed,
  servedBytes,
  servedText,
  sha256Sync,
  signedCheckpoint,
  tileReader,
  unchecked,
} from './island-verify-log.ts'
import { checkFlows, openSums, addEvent } from './island-verify-sums.ts'
import { checkGrowth, provedEvent } from './island-verify-tree.ts'

/**
 * Checks the files of a closed month against the signed tree at its end. Hashes every line onto the tree of the months
 * before, and proves that the events before the first and after the last are of other months.
 */
export async function* checkMonth(log: Log, month: string, onChain: OnChain | null): CheckSteps {
  const lacking = `The month ${month} is not closed yet, or the log has no such month`
  const manifest: ArchiveManifest = JSON.parse(await servedText(log, `archive/${month}.json`, lacking))
  const signed = yield* signedCheckpoint(log, manifest.checkpoint, true)
  if (signed === undefined) return
  const { size, root } = signed
  const { events } = manifest
  const before = size - events
  if (manifest.month !== month || manifest.size !== size || manifest.root !== formatBase64(root)) {
    return yield* failed('The manifest is of another month, or contradicts the checkpoint in it')
  }
  if (!(before >= 0) || events < 0 || (events > 0 && manifest.firstIndex !== before)) {
    return yield* failed('The manifest of the month lacks the position of its events')
  }
  const sums = openSums()
  const transactions = onChain === null ? undefined : yield* onChain.openMonth(log, onChain.fields)
  const ofMonth = yield* monthRoot(log, manifest, before, (event, line, details) => {
    addEvent(sums, event, details)
    transactions?.add(line, details)
  })
  if (ofMonth === undefined) return
  if (!isSame(ofMonth, root))
    return yield* failed('The hashes of the month do not lead to the root that was signed')
  yield passed(`The hashes of its ${events} events lead to the root that was signed after the month`)

  if (before > 0) {
    const earlier = yield* provedEvent(log, signed, before)
    if (earlier === undefined) return
    if (earlier.at >= month)
      return yield* failed(`Event ${before} is of the month too, but is not in its file`)
  }
  const now = yield* fetchNewestCheckpoint(log)
  if (now === undefined) return
  if ((yield* checkGrowth(log, signed, now, 'the end of the month')) === undefined) return
  const later = yield* provedEvent(log, now, size + 1)
  if (later === undefined) return
  if (monthOf(later) <= month)
    return yield* failed(`Event ${size + 1} is of the month too, but is not in its file`)
  yield passed('The events before and after those of the file are of other months: none is left out')
  if ((yield* checkFlows(log, month, signed, sums)) === undefined) return
  if (transactions !== undefined) yield* transactions.ask()
  yield unchecked('Every other figure is computed by daybook verify, not here')
}

/** Root of the log up to the end of the month, computed from its files. */
async function* monthRoot(
  log: Log,
  { month, gzip, details }: ArchiveManifest,
  before: number,
  take: (event: EventWire, line: string, details: string | null) => void,
): CheckSteps<Uint8Array> {
  const frontier = frontierAt(hasher, before, await tileReader(log, tilesOfFrontier(before)))
  const file = await checkedLines(log, `${month}.jsonl.gz`, gzip)
  const beside = await checkedLines(log, `${month}.details.jsonl.gz`, details)
  if (file === undefined || beside === undefined) {
    return yield* failed('The size or SHA-256 of a file differs from the month’s manifest')
  }
  yield passed('The sizes and SHA-256 of both files match the month’s manifest')
  let next = await nextDetails(beside)
  let seq = before
  for await (const line of file) {
    seq += 1
    const event: EventWire = JSON.parse(line)
    if (event.seq !== seq) return yield* failed(`Event ${seq} is missing, or another is in its place`)
    if (monthOf(event) !== month) return yield* failed(`Event ${seq} is not of the month`)
    const detailsLine = next.seq === seq ? next.line : null
    if (detailsLine !== null) next = await nextDetails(beside)
    appendLeaf(hasher, frontier, hasher.leaf(formatEntry(line, detailsLine)))
    take(event, line, detailsLine)
  }
  if (next.line !== null) return yield* failed('There are details of an event that is not of the month')
  yield passed(`Its file has ${seq - before} events, in order, and all are of the month`)
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

/** Lines of a file; undefined when its size or digest differs from `expected`. */
async function checkedLines(
  log: Log,
  name: string,
  expected: Digest,
): Promise<AsyncGenerator<string> | undefined> {
  const bytes = await servedBytes(log, `archive/${name}`)
  if (bytes.length !== expected.bytes || formatHex(sha256Sync(bytes)) !== expected.sha256) return undefined
  return oneByOne(streamLines(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))))
}

/** Lines one by one. Between two pieces of the file the event loop runs, so that the page stays responsive. */
async function* oneByOne(batches: AsyncGenerator<readonly string[]>): AsyncGenerator<string> {
  for await (const lines of batches) {
    yield* lines
    await new Promise((resolve) => {
      setTimeout(resolve)
    })
  }
}
