import { type DaybookEvent, formatEvent } from '../protocol/event.ts'
import { isIncluded } from '../tlog/proof.ts'
import { parseReceipt } from '../tlog/receipt.ts'
import { type Hash, treeHasher } from '../tlog/hash.ts'
import { type Finding, findingOf, WrongError } from './reading/finding.ts'
import { jsonAgain, jsonInteger, objectsOf, readObject } from './reading/json-values.ts'
import type { Primitives } from './reading/primitives.ts'
import type { Source } from './reading/source.ts'
import { openTrusted, type Trust } from './trust.ts'
import { formatCount } from '../protocol/amount.ts'
import { formatUtf8, parseUtf8 } from '../tlog/note.ts'

/** Events of a sampled page, and number of random pages. */
const PAGE_EVENTS = 100
const PAGES = 3

/** Lines from other addresses than the archive, to compare with those of the log. */
export type Samples = Readonly<{
  pages: number
  wrong: Finding[]
  /** Highest seq on a page; 0 without pages. */
  newest: number
  /** Signed tree of the sampled receipt; null if none was requested, or if it is wrong. */
  tree: Readonly<{ place: string; size: number; root: Hash }> | null
  /** Compares the next event and its leaf with their samples. */
  pass(event: DaybookEvent, leaf: Uint8Array): void
  /** Finding about the first sampled line whose event has not passed; null when all have. */
  unpassed(): Finding | null
}>

type SampledReceipt = Readonly<{
  seq: number
  place: string
  size: number
  root: Hash
  proof: readonly Hash[]
}>

/** Fetches the newest page of events, random pages with details, one random event and one random receipt. */
export async function askSamples(
  { source, chance, primitives }: Readonly<{ source: Source; chance: () => number; primitives: Primitives }>,
  trust: Trust,
  size: number,
): Promise<Samples> {
  const shown = new Map<number, Shown[]>()
  let receipted: SampledReceipt | null = null
  const wrong: Finding[] = []
  let pages = 0
  let newest = 0

  function show(seq: number, sample: Shown): void {
    shown.set(seq, [...(shown.get(seq) ?? []), sample])
  }

  async function page(path: string, first: number | null): Promise<void> {
    try {
      const lines = linesOf(path, await source.read(path, size), first, size)
      for (const { seq, ...sample } of lines) {
        show(seq, { path, ...sample })
        newest = Math.max(newest, seq)
      }
      pages += 1
    } catch (error) {
      wrong.push(findingOf(error))
    }
  }

  async function one(seq: number): Promise<void> {
    const path = `events/${seq}`
    const line = parseUtf8((await source.read(path, seq)) ?? new Uint8Array(0)) ?? ''
    show(seq, { path, line, leaf: null })
    pages += 1
  }

  if (size > 0) {
    await page(`events?order=desc&limit=${PAGE_EVENTS}`, null)
    for (let index = 0; index < PAGES; index++) {
      const after = Math.floor(chance() * Math.max(1, size - PAGE_EVENTS + 1))
      await page(`events?after=${after}&limit=${PAGE_EVENTS}&details=1`, after + 1)
    }
    await one(1 + Math.floor(chance() * size))
    try {
      receipted = await askReceipt(source, 1 + Math.floor(chance() * size), trust, primitives)
    } catch (error) {
      wrong.push(findingOf(error))
    }
  }
  return { pages, wrong, newest, tree: receipted, ...openComparison(shown, receipted, wrong, primitives) }
}

/** Compares the sampled lines and the receipt with the events of the log. Adds differences to `wrong`. */
function openComparison(
  shown: Map<number, Shown[]>,
  receipted: SampledReceipt | null,
  wrong: Finding[],
  primitives: Primitives,
): Pick<Samples, 'pass' | 'unpassed'> {
  return {
    pass(event, leaf) {
      if (event.seq === receipted?.seq) wrong.push(...receiptFindings(receipted, leaf, primitives))
      for (const sample of shown.get(event.seq) ?? []) {
        const place = sample.path
        if (sample.line !== formatEvent(event))
          wrong.push({ place, what: `seq ${event.seq} differs from the archive` })
        else if (sample.leaf !== null && sample.leaf !== parseUtf8(leaf))
          wrong.push({ place, what: `the details of seq ${event.seq} differ from the archive` })
      }
      shown.delete(event.seq)
    },
    unpassed() {
      for (const [seq, [sample]] of shown)
        if (sample !== undefined) return { place: sample.path, what: `seq ${seq} is not in the signed log` }
      return null
    },
  }
}

/** An event as an address shows it. With details `leaf` is its entry in the tree; otherwise null. */
type Shown = Readonly<{ path: string; line: string; leaf: string | null }>

/** Lines of a page, contiguous from `first`. With null they descend from the end of a log of at least `size` events. */
function linesOf(
  path: string,
  body: Uint8Array | undefined,
  first: number | null,
  size: number,
): readonly (Omit<Shown, 'path'> & Readonly<{ seq: number }>)[] {
  const answer = body === undefined ? undefined : readObject(path, body)
  const events = objectsOf(answer?.['events'])
  const details: Readonly<Record<string, unknown>> | null =
    first === null ? null : Object(answer?.['details'])
  if (events === undefined) throw new WrongError(path, 'lacks its events')
  // The log may have grown since its size was read.
  const least = Math.min(PAGE_EVENTS, size)
  if (events.length < least || events.length > PAGE_EVENTS)
    throw new WrongError(path, `does not have ${formatCount(least, 'event')}`)
  const lines = events.map((event, index) => {
    const seq = jsonInteger(event['seq'])
    const before = jsonInteger(events[index - 1]?.['seq'])
    const expected = first === null ? (before === undefined ? seq : before - 1) : first + index
    if (seq === undefined || seq !== expected) throw new WrongError(path, 'leaves out or repeats a seq')
    const line = jsonAgain(path, event)
    const own = details?.[seq]
    const further = own === undefined ? '' : `\n{"seq":${seq},"details":${jsonAgain(path, own)}}`
    return { seq, line, leaf: details === null ? null : `${line}${further}` }
  })
  const newest = lines[0]?.seq ?? 0
  if (first === null && newest < size)
    throw new WrongError(path, `begins with seq ${newest}, and ${size} events are signed`)
  return lines
}

async function askReceipt(
  source: Source,
  seq: number,
  trust: Trust,
  primitives: Primitives,
): Promise<SampledReceipt> {
  const place = `log/proof/${seq}`
  const receipt = parseReceipt((await source.read(place, seq)) ?? new Uint8Array(0))
  if (!receipt.ok || receipt.value.index !== seq - 1)
    throw new WrongError(place, 'is not a receipt of this event')
  const { checkpoint } = await openTrusted(place, formatUtf8(receipt.value.checkpoint), trust, primitives)
  return { seq, place, size: checkpoint.size, root: checkpoint.root, proof: receipt.value.proof }
}

function receiptFindings(
  { seq, place, size, root, proof }: SampledReceipt,
  leaf: Uint8Array,
  { sha256 }: Primitives,
): readonly Finding[] {
  const hasher = treeHasher(sha256)
  const claim = { leaf: hasher.leaf(leaf), index: seq - 1, size, root }
  return isIncluded(hasher, claim, proof)
    ? []
    : [{ place, what: 'does not lead from the archive’s entry to its root' }]
}

/** Samples of a folder, which has no pages: none. */
export function noSamples(): Samples {
  return { pages: 0, wrong: [], newest: 0, tree: null, pass: () => undefined, unpassed: () => null }
}
