import type { Daybook } from '../../client/daybook.ts'
import { endpointPath } from '../../client/endpoint-query.ts'
import type { DetailedEvent } from '../../client/event-details.ts'
import { SURROUNDINGS } from '../../client/surroundings.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { ArchiveIndex, LogKeys } from '../../protocol/endpoints/file-endpoints.ts'
import { nextSeq } from '../../protocol/seq.ts'
import { isSame, treeHasher } from '../../tlog/hash.ts'
import { formatVkey, parseUtf8 } from '../../tlog/note.ts'
import type { Tree } from '../../tlog/proof.ts'
import { type ExpectedNext, readDetailsLine, readEventLine } from '../../verify/reading/entry-lines.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { jsonAgain } from '../../verify/reading/json-values.ts'
import { askedCovering, openLiveSource } from '../../verify/reading/live-source.ts'
import { historyOf } from '../../verify/saved-checkpoint.ts'
import { openSignedTree, type SignedTree } from '../../verify/signed-tree.ts'
import { askCheckpoint, askTrust, type ServedCheckpoint, type Trust } from '../../verify/trust.ts'
import { signatureSays } from '../../verify/verdicts.ts'
import {
  DETAILED_FILE_EVENTS_MIN,
  readDetailedEvents,
  readingParts,
} from '../../verify/reading/reading-parts.ts'
import { asCommandError, openClient, pauseOf } from '../terminal/client.ts'
import { type CommandContext, type ExitCode, printNotice } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { checkVkeys } from '../terminal/options.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { asBookError, openBook, type OpenBook } from './book-file.ts'
import { readBook, type ReadBook } from './read-book.ts'
import type { BookEntry } from './book-rows.ts'
import { READERS_INDEXES } from './book-schema.ts'
import { type BookWriter, openBookWriter } from './book-writer.ts'

/**
 * Events of a commit. A tree of a multiple of 65,536 leaves has one hash for each in level 2 of the tiles, so that the
 * proof of a commit needs few tiles.
 */
const COMMIT_EVENTS = 65_536

type BookSettings = Readonly<{ url: string; to: string; keys: readonly string[] }>

/**
 * Writes the log of a service to a file of SQLite, or continues one. Each commit is proved against the signed tree
 * before it is made. At the end the root over all rows is that of a signed checkpoint, which the book keeps.
 */
export async function pullBook(settings: BookSettings, context: CommandContext): Promise<ExitCode> {
  const { url, to } = settings
  checkVkeys(settings.keys)
  const before = readBook(to)
  const daybook = openClient(url, context)
  try {
    const log = await askLog(daybook, settings, before, context)
    if (isCurrent(before, log))
      printNotice(context, `nothing new: ${shellQuoted(to)} ends with the newest event`)
    else await writeBook(daybook, settings, log, context)
    const advice = log.trust.basis === 'served' ? '; --key takes it' : ''
    printNotice(context, `${signatureSays(log.served, log.trust.basis)}${advice}`)
    return 0
  } catch (error) {
    if (context.stop.aborted)
      throw new CommandError('stopped; repeat the command to continue', { cause: error })
    if (error instanceof WrongError)
      throw new CommandError(`${error.message}; ${shellQuoted(to)} has nothing of it`, { cause: error })
    throw asBookError(asCommandError(error), to)
  }
}

/** The log that a service shows now: its names, its trusted keys and its signed tree. */
type ShownLog = Readonly<{
  id: string
  simulated: boolean
  trust: Trust
  served: ServedCheckpoint
  tree: SignedTree
}>

/** Asks for the signed tree. Refuses a log that does not continue the one of the book. */
async function askLog(
  daybook: Daybook,
  { to, keys }: BookSettings,
  before: ReadBook | null,
  { stop: signal }: CommandContext,
): Promise<ShownLog> {
  const { log: id, simulated } = await daybook.status({ signal })
  if (typeof id !== 'string') throw new CommandError('the address answers, but not as a Daybook does')
  if (before !== null && before.log !== id)
    throw new CommandError(otherLog(to, before, await daybook.logKeys({ signal })))
  const source = openLiveSource(daybook.ask, SURROUNDINGS.sleep, signal)
  const own = { given: keys, keptOf: () => before?.keys.split('\n') ?? [] }
  const trust = await askTrust(source, own, NODE_PRIMITIVES)
  const served = await askCheckpoint(source, trust, before?.size ?? 0, NODE_PRIMITIVES)
  const tree = openSignedTree(source, served.checkpoint, treeHasher(NODE_PRIMITIVES.sha256))
  if (before !== null) await demandContinued(to, before, served, tree)
  return { id, simulated, trust, served, tree }
}

/** Reason why a log is not the one of a book. It may continue that one after a loss. */
function otherLog(to: string, { log, size, origin }: ReadBook, { logId, formerLogs }: LogKeys): string {
  const book = `${shellQuoted(to)} has ${formatCount(size, 'event')} of the log ${origin} (${log.slice(0, 8)})`
  const action = 'It stays as it is: keep it as evidence, and pull into a new file'
  const former = formerLogs.find((one) => one.id === log)
  if (former === undefined)
    return `${book}, and this service has another log (${logId.slice(0, 8)}). ${action}`
  return `${book}. The service lost published events, and its operator accepted the loss: a new log (${logId.slice(0, 8)}) continues from the first ${formatCount(former.size, 'event')}. ${action}`
}

/** Throws a `CommandError` unless the signed tree continues the tree of a book. */
async function demandContinued(
  to: string,
  { kept, size, root }: ReadBook,
  served: ServedCheckpoint,
  tree: SignedTree,
): Promise<void> {
  const refused = (what: string): CommandError =>
    new CommandError(`${shellQuoted(to)}: ${what}. It stays as it is: keep it as evidence`)
  if (kept !== null) {
    await tree.prove(kept.checkpoint.size)
    const { finding } = historyOf({ name: to, ...kept }, served, tree)
    if (finding !== null) throw refused(finding.what)
  }
  if (size > served.checkpoint.size)
    throw refused(`it has ${formatCount(size, 'event')}, and the log now has ${served.checkpoint.size}`)
  await tree.prove(size)
  if (!isSame(tree.rootAt(size) ?? NO_HASH, root))
    throw refused(`its ${formatCount(size, 'event')} are not those of the signed log`)
}

const NO_HASH = new Uint8Array(0)

/** Whether a book ends with this signed tree already. */
function isCurrent(before: ReadBook | null, { served }: ShownLog): boolean {
  const { size } = served.checkpoint
  return before?.size === size && before.kept?.checkpoint.size === size
}

/** Writes the entries that a book lacks, and then the checkpoint. */
async function writeBook(
  daybook: Daybook,
  { url, to }: BookSettings,
  log: ShownLog,
  context: CommandContext,
): Promise<void> {
  const { id, simulated, trust, served } = log
  const { size } = served.checkpoint
  const progress = openProgress('pulling', 'events', context)
  using book = openBook(to)
  try {
    const writer = openBookWriter(book.db)
    const start = writer.size()
    if (start > 0 && book.fact('log') !== id)
      throw new CommandError(`another pull has written ${shellQuoted(to)}`)
    const facts = { log: id, origin: trust.origin, url, simulated: String(Number(simulated)) }
    book.setFacts({ ...facts, keys: trust.keys.map(({ key }) => formatVkey(key)).join('\n') })
    for await (const entries of entriesAfter(daybook, writer, size, context.stop)) {
      for (const entry of entries) {
        writer.add(entry)
        const reached = writer.size()
        if (reached % COMMIT_EVENTS === 0 && reached < size) await commitProved(book, writer, log)
      }
      context.stop.throwIfAborted()
      progress.at(writer.size() - start, size - start)
    }
    demandRoot(writer, served.checkpoint)
    writer.settle()
    for (const index of READERS_INDEXES) book.db.exec(index)
    book.db.exec('PRAGMA analysis_limit = 1000; ANALYZE')
    book.setFacts({ checkpoint: parseUtf8(served.note) ?? '' })
    const isOneFile = book.finish()
    progress.end()
    const added =
      size > start ? `${formatCount(size - start, 'event')} of seq ${start + 1} to ${size}` : 'no event'
    printNotice(context, `${added} added to ${shellQuoted(to)}`)
    if (!isOneFile)
      printNotice(
        context,
        `another program reads it: its newest rows stay in ${shellQuoted(`${to}-wal`)} until then`,
      )
  } finally {
    progress.end()
  }
}

/** Commits the rows, after a proof that they are the first ones of the signed tree. */
async function commitProved(book: OpenBook, writer: BookWriter, { tree }: ShownLog): Promise<void> {
  const size = writer.size()
  await tree.prove(size)
  demandRoot(writer, { size, root: tree.rootAt(size) ?? NO_HASH })
  writer.settle()
  book.commit()
}

/** Throws a `WrongError` unless the root over all rows is that of the signed tree. */
function demandRoot(writer: BookWriter, { size, root }: Tree): void {
  if (writer.size() !== size || !isSame(writer.root(), root))
    throw new WrongError(`seq 1 to ${size}`, 'the events are not those of the signed tree')
}

/** Entries that a writer lacks, up to the size of the signed tree. */
async function* entriesAfter(
  daybook: Daybook,
  writer: BookWriter,
  size: number,
  signal: AbortSignal,
): AsyncGenerator<readonly BookEntry[], void> {
  if (writer.size() === size) return
  const path = endpointPath('archive', '')
  const listed = await askedCovering(pauseOf(signal), path, size, () => daybook.ask.get(path, { signal }))
  const { months }: ArchiveIndex = listed.json()
  for (const part of readingParts(months, writer.size(), size, DETAILED_FILE_EVENTS_MIN)) {
    for await (const batch of readDetailedEvents(daybook, part, signal)) {
      let next = writer.next()
      const entries: BookEntry[] = []
      for (const one of batch) {
        if (next.seq > part.end) break
        const entry = entryOf(one, next)
        entries.push(entry)
        next = { seq: nextSeq(entry.event.seq), notBefore: entry.event.atMs }
      }
      yield entries
      if (next.seq > part.end) break
    }
  }
}

/** The entry of a received event. Throws a `WrongError` unless its lines are those that Daybook writes for this seq. */
function entryOf({ event: wire, details }: DetailedEvent, next: ExpectedNext): BookEntry {
  const { seq } = next
  const line = jsonAgain(`seq ${seq}`, wire)
  const event = readEventLine(line, next)
  if (details === null) return { event, details, line, detailsLine: null }
  const place = `the details of seq ${seq}`
  const detailsLine = `{"seq":${seq},"details":${jsonAgain(place, details)}}`
  return { event, details: readDetailsLine(place, detailsLine).details, line, detailsLine }
}
