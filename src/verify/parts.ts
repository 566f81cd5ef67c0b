import { formatUtf8 } from '../tlog/note.ts'
import { formatCount } from '../protocol/amount.ts'
import type { Entry } from '../protocol/event.ts'
import { boundOf, type Month, monthOf } from '../protocol/moment.ts'
import { seqOf } from '../protocol/seq.ts'
import { appendLeaf, rootOf } from '../tlog/frontier.ts'
import { isSame, treeHasher } from '../tlog/hash.ts'
import { isIncluded } from '../tlog/proof.ts'
import { openVouching } from '../tlog/quorum.ts'
import { parseReceipt } from '../tlog/receipt.ts'
import { readCheckpoint } from '../tlog/checkpoint.ts'
import { DOUBTS } from '../tlog/verdict.ts'
import type { Checklist } from './checklist.ts'
import { findingOf, WrongError } from './reading/finding.ts'
import { isJsonObject, jsonInteger, objectsOf, readObject } from './reading/json-values.ts'
import { parseServedManifest } from './reading/manifest.ts'
import { monthEntries, type PublishedEntry, publishedEntry } from './reading/month-entries.ts'
import type { Primitives } from './reading/primitives.ts'
import type { Source } from './reading/source.ts'
import type { SavedNote } from './saved-checkpoint.ts'
import type { SignedTree } from './signed-tree.ts'
import { openListed, type Trust } from './trust.ts'
import { manifestFinding } from './verdicts.ts'
import type { WitnessDemand } from './witnesses.ts'

/** A part of a log that can be proved without reading the rest. */
export type LogPart =
  /** Only the growth of the log since the saved checkpoints. */
  | Readonly<{ is: 'growth' }>
  | Readonly<{ is: 'event'; seq: number }>
  | Readonly<{ is: 'month'; month: Month }>
  /** A receipt that was saved: a file `.tlog-proof`. */
  | Readonly<{ is: 'proof'; bytes: Uint8Array }>
  /** A file of a loyalty run, by its digest: `sha256:` and 64 hex digits. */
  | Readonly<{ is: 'file'; digest: string }>

type PartSettings = Readonly<{
  source: Source
  primitives: Primitives
  trust: Trust
  /** Tree of the newest checkpoint, of `size` entries. */
  tree: SignedTree
  size: number
  witnesses: WitnessDemand | null
}>

/** Name of a receipt among the saved checkpoints. */
const RECEIPT = 'the proof'

/** Checks one part of a log. Returns the proved entry of an event; null for other parts, or without a proof. */
export async function checkPart(
  settings: PartSettings,
  list: Checklist,
  part: LogPart,
): Promise<Entry | null> {
  try {
    switch (part.is) {
      case 'growth':
        return null
      case 'event':
        return await checkEvent(settings, list, part.seq)
      case 'month':
        await checkMonth(settings, list, part.month)
        return null
      case 'proof':
        await checkReceipt(settings, list, part.bytes)
        return null
      case 'file':
        await checkLoyaltyFile(settings, list, part.digest)
        return null
    }
  } catch (error) {
    if (part.is !== 'growth') list.wrong(part.is, findingOf(error))
    return null
  }
}

async function checkEvent(settings: PartSettings, list: Checklist, seq: number): Promise<Entry | null> {
  if (seq > settings.size) {
    list.unchecked('event', unsigned(settings, seq))
    return null
  }
  const { entry, hashes } = await provedEntry(settings, settings.tree, seq)
  const path = formatCount(hashes, 'hash leads', 'hashes lead')
  list.right('event', `${path} from the line of event ${seq} and its details to the signed root`)
  return entry
}

function unsigned({ size }: PartSettings, seq: number): string {
  return `event ${seq} is not signed yet: the checkpoint has ${formatCount(size, 'event')}`
}

/**
 * Entry of an event with a proof that it is in the tree, and the number of hashes of the proof. Throws a `WrongError`
 * otherwise.
 */
export async function provedEntry(
  { source }: Pick<PartSettings, 'source'>,
  tree: SignedTree,
  seq: number,
): Promise<PublishedEntry & Readonly<{ hashes: number }>> {
  const published = await publishedEntry(source, seqOf(seq))
  return { ...published, hashes: await tree.pathOf(seq - 1, published.leaf) }
}

/**
 * Checks a closed month. Its files must lead from the tree before it to the root that was signed at its end. The events
 * around it must be of other months, so that none is left out.
 */
async function checkMonth(settings: PartSettings, list: Checklist, month: Month): Promise<void> {
  const { source, primitives, trust, tree, size } = settings
  const place = `archive/${month}.json`
  const body = await source.read(place)
  if (body === undefined) {
    list.unchecked('month', `${month} is not closed yet, or the log has no such month`)
    return
  }
  const manifest = parseServedManifest(place, readObject(place, body), month)
  if (manifest.size >= size) {
    list.unchecked('month', `no event after ${month} is signed yet`)
    return
  }
  await tree.prove(manifest.size)
  const fault = await manifestFinding(manifest, tree, trust, primitives)
  if (fault !== null) throw new WrongError(fault.place, fault.what)
  const hasher = treeHasher(primitives.sha256)
  const before = manifest.size - manifest.events
  const frontier = await tree.frontier(before)
  const position = { next: { seq: seqOf(before + 1), notBefore: boundOf(0) } }
  const listed = { month, closed: true, manifest }
  for await (const entries of monthEntries(source, listed, position, primitives, size))
    for (const { leaf } of entries) appendLeaf(hasher, frontier, hasher.leaf(leaf))
  if (!isSame(rootOf(hasher, frontier), manifest.root))
    throw new WrongError(place, 'its events do not lead to the root that was signed')
  const earlier = before === 0 ? null : await provedEntry(settings, tree, before)
  const later = await provedEntry(settings, tree, manifest.size + 1)
  const monthIn = ({ entry }: PublishedEntry): Month => monthOf(entry.event.atMs)
  if (earlier !== null && monthIn(earlier) >= month)
    throw new WrongError(`seq ${before}`, `is of ${month} too, but is not in its file`)
  if (monthIn(later) <= month)
    throw new WrongError(`seq ${manifest.size + 1}`, `is of ${month} too, but is not in its file`)
  list.right(
    'month',
    `${formatCount(manifest.events, 'event')} lead to the root that was signed after ${month}, and none is left out`,
  )
}

/** Checkpoint of a receipt, which must be consistent with the log like any saved one; none for another part. */
export function receiptNote(part: LogPart): readonly SavedNote[] {
  const parsed = part.is === 'proof' ? parseReceipt(part.bytes) : null
  if (parsed?.ok !== true) return []
  return [{ name: RECEIPT, note: formatUtf8(parsed.value.checkpoint), named: true }]
}

/** Checks that the event of a receipt is in its tree. Another check compares that tree with the log. */
async function checkReceipt(
  { source, primitives, trust, witnesses }: PartSettings,
  list: Checklist,
  bytes: Uint8Array,
): Promise<void> {
  const parsed = parseReceipt(bytes)
  if (!parsed.ok) throw new WrongError(RECEIPT, DOUBTS[parsed.doubt])
  const { index, proof, checkpoint } = parsed.value
  const note = formatUtf8(checkpoint)
  const opened = await openListed(note, trust, primitives)
  if (!opened.ok) throw new WrongError(RECEIPT, DOUBTS[opened.doubt])
  const { size, root } = opened.value
  const hasher = treeHasher(primitives.sha256)
  const { leaf } = await publishedEntry(source, seqOf(index + 1))
  if (!isIncluded(hasher, { leaf: hasher.leaf(leaf), index, size, root }, proof))
    throw new WrongError(RECEIPT, `does not lead from event ${index + 1} to its root`)
  const cosigners = witnesses === null ? '' : await cosignersOf(note, witnesses, primitives)
  list.right('proof', `it leads from event ${index + 1} to the root of ${size} signed events${cosigners}`)
}

/** Text about the chosen witnesses that have signed a note. Throws a `WrongError` when a signature is invalid. */
async function cosignersOf(
  note: Uint8Array,
  { keys }: WitnessDemand,
  primitives: Primitives,
): Promise<string> {
  const read = readCheckpoint(note)
  const opened = read.ok ? await openVouching(read.value.note, keys, primitives) : read
  if (!opened.ok) throw new WrongError(RECEIPT, DOUBTS[opened.doubt])
  const names = opened.value.vouchers.map(({ name }) => name)
  return names.length === 0 ? ', which none of your witnesses has signed' : `, signed by ${names.join(', ')}`
}

/** Checks that an event of the log names a file of a loyalty run. The served list of runs only tells which event. */
async function checkLoyaltyFile(settings: PartSettings, list: Checklist, digest: string): Promise<void> {
  const place = 'loyalty/runs'
  const body = await settings.source.read(place)
  const runs = objectsOf(readObject(place, body ?? new Uint8Array(0))['runs']) ?? []
  const halves = runs.flatMap(({ input, output }) => [input, output]).filter(isJsonObject)
  const seq = jsonInteger(halves.find((half) => half['digest'] === digest)?.['seq'])
  if (seq === undefined || seq === 0) throw new WrongError(place, `names no file of the digest ${digest}`)
  if (seq > settings.size) {
    list.unchecked('file', unsigned(settings, seq))
    return
  }
  const { event, details } = (await provedEntry(settings, settings.tree, seq)).entry
  if (event.type !== 'loyalty' || details?.digest !== digest)
    throw new WrongError(`seq ${seq}`, `does not name a file of the digest ${digest}`)
  list.right('file', `event ${seq} of the signed log names it as the ${event.kind} of ${details.month}`)
}
