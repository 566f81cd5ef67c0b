import { rmSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { type Month, monthOf } from '../../protocol/moment.ts'
import { ManifestError, type MirrorBook, MismatchError } from './mirror-book.ts'
import type { MirrorEntry } from '../proof/mirror-entry.ts'
import { fileEntries, type MonthFiles } from '../months/file-entries.ts'
import { type DownloadedFile, downloadMonth } from '../months/month-download.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import {
  type ClosedMonth,
  type OriginMonth,
  readClosedMonth,
  readOriginMonths,
} from '../months/origin-months.ts'
import type { Origin } from '../origin/open-origin.ts'
import { pageEntries } from '../origin/page-entries.ts'
import type { OriginKeys } from '../proof/origin-keys.ts'
import type { MonthEnd, ProvenTree } from '../proof/proven-tree.ts'

/** Parts of a catch-up. The book's transaction is open when the catch-up begins and when it ends. */
export type CatchUp = Readonly<{
  origin: Origin
  book: MirrorBook
  keys: OriginKeys
  /** Folder for downloaded files, which are removed when they are read. */
  folder: string
  /** Missing events from which month files are read instead of pages. */
  archiveEventsMin: number
  signal: AbortSignal
  /**
   * Called after each batch with the number of uncommitted events. Returns whether it has committed and begun again.
   */
  onBatch(uncommitted: number): boolean
  /** Called when a month of the origin ends and its signed end is right. May commit it, and begin again. */
  onMonthEnd(end: MonthEnd): void
}>

/** Entries that are taken before they are written. */
const UNKEPT_ENTRIES_MAX = 5_000

/** Applies entries to the book, with the signed ends of the months that they end. */
type EntryTaker = Readonly<{
  /** Takes entries up to a seq, in order. */
  take(entries: readonly MirrorEntry[], upTo: number): Promise<void>
  closed(month: Month): Promise<ClosedMonth>
}>

export function openEntryTaker(
  { origin, book, keys, signal }: Pick<CatchUp, 'origin' | 'book' | 'keys' | 'signal'>,
  onKept: () => void,
): EntryTaker {
  const months = new Map<Month, Promise<ClosedMonth>>()
  let month: Month | null = null
  let unkept = 0

  function closed(of: Month): Promise<ClosedMonth> {
    const found = months.get(of) ?? readClosedMonth(origin, of, keys, signal)
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
 * Applies all events up to a proved tree to the book: from month files when there are many, then from pages. Throws the
 * errors of its parts; the caller rolls back. Does not compare the tree; the caller commits it.
 */
export async function catchUpWith(parts: CatchUp, target: ProvenTree): Promise<void> {
  const { book, origin, signal } = parts
  let committed = book.head().seq
  const taker = openEntryTaker(parts, () => {
    if (parts.onBatch(book.head().seq - committed)) committed = book.head().seq
  })
  await takeMonths(parts, taker, target, () => {
    committed = book.head().seq
  })
  for await (const entries of pageEntries(origin, target.size, book.next, signal)) {
    await taker.take(entries, target.size)
  }
}

/** Applies events from month files while many are missing. Downloads the next month's files meanwhile. */
async function takeMonths(
  parts: CatchUp,
  taker: EntryTaker,
  target: ProvenTree,
  onMonthEnd: () => void,
): Promise<void> {
  const { book, archiveEventsMin } = parts
  const left = (): number => target.size - book.head().seq
  if (left() < archiveEventsMin) return
  const stop = new AbortController()
  const signal = AbortSignal.any([parts.signal, stop.signal])
  const months = await missingMonths(parts, target.size)
  let ahead: Promise<FetchedMonth> | null = null
  try {
    for (const [index, month] of months.entries()) {
      if (!month.closed && left() < archiveEventsMin) break
      const fetched: FetchedMonth = await (ahead ?? fetchMonth(parts, taker, month, signal))
      const next = months[index + 1]
      // The open month grows, so it is fetched when its turn comes.
      ahead = next?.closed === true ? fetchMonth(parts, taker, next, signal) : null
      ahead?.catch(() => undefined)
      const end = await takeMonth(parts, taker, fetched, target)
      if (end === null) continue
      parts.onMonthEnd(end)
      onMonthEnd()
    }
  } finally {
    stop.abort()
    await ahead?.catch(() => undefined)
  }
}

type MissingMonth = OriginMonth & Readonly<{ firstSeq: number }>

/** Months with events that the book lacks, up to a seq. */
async function missingMonths(
  { book, origin, signal }: CatchUp,
  upTo: number,
): Promise<readonly MissingMonth[]> {
  const missing: MissingMonth[] = []
  let before = 0
  for (const month of await readOriginMonths(origin, signal)) {
    const firstSeq = before + 1
    before = month.lastSeq ?? before
    if (before > book.head().seq && firstSeq <= upTo) missing.push({ ...month, firstSeq })
  }
  return missing
}

type FetchedMonth = MonthFiles & Readonly<{ closed: ClosedMonth | null }>

/** Downloads the files of a month, and reads its manifest if it is closed. */
async function fetchMonth(
  { origin, folder }: CatchUp,
  taker: EntryTaker,
  { month, closed: isClosed, firstSeq }: MissingMonth,
  signal: AbortSignal,
): Promise<FetchedMonth> {
  const closed = isClosed ? await taker.closed(month) : null
  const download = (file: MonthFile): Promise<DownloadedFile> => {
    const expected = file === 'events' ? closed?.manifest.gzip : closed?.manifest.details
    return downloadMonth(origin, folder, { month, file, expected: expected ?? null }, signal)
  }
  // In this order, because the details of an open month may grow meanwhile and must not lack any.
  const files = { events: await download('events'), details: await download('details') }
  return { month, firstSeq, lastSeq: closed?.manifest.lastSeq ?? files.events.lastSeq, files, closed }
}

/**
 * Applies one month from its files. Returns its signed end; null for an open month, or one that ends beyond the target.
 */
async function takeMonth(
  { book, signal }: CatchUp,
  taker: EntryTaker,
  fetched: FetchedMonth,
  target: ProvenTree,
): Promise<MonthEnd | null> {
  const { month, files, closed } = fetched
  // Another node may answer for the details of an open month, and be behind.
  const upTo = Math.min(target.size, closed?.manifest.lastSeq ?? files.details.lastSeq ?? 0)
  for (const entries of fileEntries(fetched, book.next, book.addPiece)) {
    await taker.take(entries, upTo)
    await turn()
    signal.throwIfAborted()
    if (book.head().seq >= upTo) break
  }
  for (const { path } of [files.events, files.details]) rmSync(path, { force: true })
  if (closed === null || closed.end.size !== book.head().seq) return null
  if (Buffer.compare(book.root(), closed.end.root) !== 0)
    throw new MismatchError(`the tree at the end of ${month} is not the one that the log signed`)
  return closed.end
}

/**
 * Runs a change of the book, which begins and ends its own transaction. If the month files get other bytes than the
 * published ones, as with another zlib, uses the published segments and runs it again.
 */
export async function withServedMonths(
  parts: Pick<CatchUp, 'origin' | 'book' | 'keys' | 'folder' | 'signal'>,
  change: () => Promise<void>,
): Promise<void> {
  const served = new Map<Month, MonthFiles>()
  try {
    for (;;) {
      try {
        return await change()
      } catch (error) {
        if (!(error instanceof ManifestError) || served.has(error.month)) throw error
        served.set(error.month, await fetchClosed(parts, error.month))
        // The change was undone, so the segments of every month are needed again.
        for (const files of served.values()) parts.book.serveMonth(files)
      }
    }
  } finally {
    for (const { files } of served.values()) {
      for (const { path } of [files.events, files.details]) rmSync(path, { force: true })
    }
  }
}

async function fetchClosed(
  { origin, keys, folder, signal }: Pick<CatchUp, 'origin' | 'keys' | 'folder' | 'signal'>,
  month: Month,
): Promise<MonthFiles> {
  const { manifest } = await readClosedMonth(origin, month, keys, signal)
  const { firstSeq, lastSeq } = manifest
  if (firstSeq === null) throw new MismatchError(`${month} is not the month of its manifest`)
  const expected = { events: manifest.gzip, details: manifest.details }
  const download = (file: MonthFile): Promise<DownloadedFile> =>
    downloadMonth(origin, folder, { month, file, expected: expected[file] }, signal)
  const files = { events: await download('events'), details: await download('details') }
  return { month, firstSeq, lastSeq, files }
}
