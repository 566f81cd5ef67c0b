import { rmSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import type { Month } from '../../protocol/moment.ts'
import { monthOf } from '../../protocol/moment.ts'
import type { MirrorBook } from './mirror-book.ts'
import { MismatchError } from './mirror-book.ts'
import type { MirrorEntry } from '../proof/mirror-entry.ts'
import { fileEntries } from '../months/file-entries.ts'
import { downloadMonth } from '../months/month-download.ts'
import type { ClosedMonth, OriginMonth } from '../months/origin-months.ts'
import { readClosedMonth, readMonthList } from '../months/origin-months.ts'
import type { Origin } from '../origin/open-origin.ts'
import { pageEntries } from '../origin/page-entries.ts'
import type { OriginKeys } from '../proof/origin-keys.ts'
import type { ProvenTree } from '../proof/proven-tree.ts'

/** Parts of a catch-up. The book's transaction has begun, and is open again when the catch-up ends. */
type CatchUp = Readonly<{
  origin: Origin
  book: MirrorBook
  keys: OriginKeys
  /** Folder for downloaded files. They are removed when they are read. */
  folder: string
  /** Missing events from which month files are read in place of pages. */
  archiveEventsMin: number
  signal: AbortSignal
  /** Called after each batch, with the events since the last commit. Returns whether it has committed and begun again. */
  onBatch(uncommitted: number): boolean
  /** Called when a month of the origin ends here and its signed end is right. May commit it, and begin again. */
  onMonthEnd(end: ProvenTree): void
}>

/** Entries that are taken before they are written. */
const UNKEPT_ENTRIES_MAX = 5_000

/** Takes entries into the book, with the signed ends of the months that they end. */
type EntryTaker = Readonly<{
  /** Takes entries up to a seq, in order. */
  take(entries: readonly MirrorEntry[], upTo: number): Promise<void>
  closed(month: Month): Promise<ClosedMonth>
}>

export function openEntryTaker(
  { origin, book, keys, signal }: Pick<CatchUp, 'origin' | 'book' | 'keys' | 'signal'>,
  onKept: () => void,
): EntryTaker {
  const months = new Map<Month, ClosedMonth>()
  let month: Month | null = null
  let unkept = 0

  async function closed(of: Month): Promise<ClosedMonth> {
    const found = months.get(of) ?? (await readClosedMonth(origin, of, keys, signal))
    months.set(of, found)
    return found
  }

  return {
    closed,
    async take(entries, upTo) {
      for (const entry of entries) {
        if (entry.event.seq > upTo) break
        const own = monthOf(entry.event.atMs)
        if (own !== month) {
          for (const missing of book.monthsBefore(own)) book.closeWith(await closed(missing))
          month = own
        }
        book.take(entry)
        if (++unkept < UNKEPT_ENTRIES_MAX) continue
        book.keep()
        unkept = 0
      }
      book.keep()
      unkept = 0
      onKept()
    },
  }
}

/**
 * Takes all events up to a proved tree into the book: from month files when there are many, then from pages. Throws what
 * the parts of it throw; the caller rolls back. Does not compare the tree: the caller commits it.
 */
export async function catchUpWith(parts: CatchUp, target: ProvenTree): Promise<void> {
  const { book, origin, signal } = parts
  let committed = book.head().seq
  const taker = openEntryTaker(parts, () => {
    if (parts.onBatch(book.head().seq - committed)) committed = book.head().seq
  })
  const left = (): number => target.size - book.head().seq
  if (left() >= parts.archiveEventsMin) {
    let before = 0
    for (const month of await readMonthList(origin, signal)) {
      const firstSeq = before + 1
      before = month.lastSeq ?? before
      if (before <= book.head().seq || left() <= 0) continue
      if (!month.closed && left() < parts.archiveEventsMin) continue
      const end = await readMonth(parts, taker, month, firstSeq, target)
      if (end === null) continue
      parts.onMonthEnd(end)
      committed = book.head().seq
    }
  }
  for await (const entries of pageEntries(origin, target.size, book.next, signal)) {
    await taker.take(entries, target.size)
  }
}

/** Reads one month from its files. Returns its signed end; null for the open month, or one that ends beyond the target. */
async function readMonth(
  parts: CatchUp,
  taker: EntryTaker,
  { month, closed }: OriginMonth,
  firstSeq: number,
  target: ProvenTree,
): Promise<ProvenTree | null> {
  const { origin, folder, signal, book } = parts
  const end = closed ? await taker.closed(month) : null
  const manifest = end?.manifest ?? null
  const events = await downloadMonth(
    origin,
    folder,
    { month, file: 'events', expected: manifest?.gzip ?? null },
    signal,
  )
  const details = await downloadMonth(
    origin,
    folder,
    { month, file: 'details', expected: manifest?.details ?? null },
    signal,
  )
  // Another node may answer for the details of an open month, and be behind.
  const upTo = Math.min(target.size, manifest?.lastSeq ?? details.lastSeq ?? 0)
  const lastSeq = manifest?.lastSeq ?? events.lastSeq
  for (const entries of fileEntries(
    { month, files: { events, details }, firstSeq, lastSeq },
    book.next,
    book.addPiece,
  )) {
    await taker.take(entries, upTo)
    await turn()
    signal.throwIfAborted()
    if (book.head().seq >= upTo) break
  }
  for (const { path } of [events, details]) rmSync(path, { force: true })
  if (end === null || end.end.size !== book.head().seq) return null
  if (Buffer.compare(book.root(), end.end.root) !== 0)
    throw new MismatchError(`the tree at the end of ${month} is not the one that the log signed`)
  return end.end
}
