import type { DatabaseSync } from 'node:sqlite'
import { openCheckpoint, readCheckpoint } from '../../tlog/checkpoint.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../tlog/frontier.ts'
import { isSame, treeHasher } from '../../tlog/hash.ts'
import { formatBase64, formatUtf8, parseVkey } from '../../tlog/note.ts'
import type { Tree } from '../../tlog/proof.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import { formatCount } from '../../protocol/amount.ts'
import { type Checklist, openChecklist } from '../../verify/checklist.ts'
import { findingOf, WrongError } from '../../verify/reading/finding.ts'
import { leafOf } from '../../verify/reading/month-entries.ts'
import { formatReport, isVerified } from '../../verify/report.ts'
import { signatureSays } from '../../verify/verdicts.ts'
import type { CommandContext, ExitCode } from '../terminal/command-context.ts'
import { CommandError } from '../terminal/command-error.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { shellQuoted } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { factOf, openExistingBook, withBookErrors } from './book-file.ts'
import { checkedEntries } from './book-rows.ts'

/** Entries between two turns of the event loop, in which an interrupt arrives. */
const TURN_EVENTS = 10_000

/**
 * Verifies the events of a book without its service: the checkpoint in the file is signed, and its root is the root
 * over all rows. The other tables follow from the events, and are not computed again.
 */
export async function verifyBook(
  path: string,
  keys: readonly string[],
  context: CommandContext,
): Promise<ExitCode> {
  const started = context.monotonicMs()
  using db = openExistingBook(path)
  if (db === null) throw new CommandError(`${shellQuoted(path)} is empty`)
  const list = openChecklist(['signature', 'root', 'log', 'tables'])
  list.unchecked('tables', 'they follow from the events; to compare them, pull into a new file')
  const { size, root } = await judgeNote(list, db, keys)
  const rows = await readRows(list, db, path, size, context)
  if (rows !== null) {
    const seqs = rows.size === 0 ? 'no event yet' : `seqs 1 to ${rows.size} without a gap`
    list.right('log', `${seqs}, each row as the log published it`)
    if (!isSame(rows.root, root))
      list.wrong('root', { place: 'the checkpoint', what: 'its root is not that of the rows' })
    else if (rows.size > size) list.unchecked('root', 'the last pull has not ended: repeat it')
    else list.right('root', `${formatBase64(root)} is the root over ${formatCount(size, 'event')}`)
  }
  const found = { checks: list.checks(), notes: [], chain: null, evidence: [], keep: null, vouched: null }
  const seconds = ((context.monotonicMs() - started) / 1_000).toFixed(1)
  const advised = keys.length === 0 ? (['--key'] as const) : []
  context.stdout.write(
    formatReport(found, context.drawn === true ? 'drawn' : 'plain', `1 file, ${seconds} s`, advised),
  )
  return isVerified(found) ? 0 : 1
}

const hasher = treeHasher(NODE_PRIMITIVES.sha256)

/** Judges the signature of the checkpoint that the book keeps, and gives its tree; of size 0 without one. */
async function judgeNote(list: Checklist, db: DatabaseSync, given: readonly string[]) {
  const note = formatUtf8(factOf(db, 'checkpoint') ?? '')
  const origin = factOf(db, 'origin') ?? ''
  const kept = factOf(db, 'keys')?.split('\n') ?? []
  const vkeys = given.length > 0 ? given : kept
  const trusted = { origin, keys: vkeys.flatMap((vkey) => parseVkey(NODE_PRIMITIVES.sha256, vkey) ?? []) }
  const opened = await openCheckpoint(note, trusted, NODE_PRIMITIVES.verifyEd25519)
  if (opened.ok) {
    const { checkpoint, signers } = opened.value
    const names = signers.map(({ name, keyId }) => `${name}+${keyId}`)
    list.right(
      'signature',
      signatureSays({ checkpoint, signers: names }, given.length > 0 ? 'given' : 'kept'),
    )
    return checkpoint
  }
  list.wrong('signature', { place: 'the checkpoint', what: DOUBTS[opened.doubt] })
  const stated = readCheckpoint(note)
  return stated.ok ? stated.value.checkpoint : { size: 0, root: hasher.empty }
}

/**
 * Number of rows, and the root over the first `size` of them; the empty root without so many. Null, with a finding, at a
 * row that is not as the log would have published it.
 */
async function readRows(
  list: Checklist,
  db: DatabaseSync,
  path: string,
  size: number,
  { stop, ...context }: CommandContext,
): Promise<Tree | null> {
  const progress = openProgress('reading', 'events', { stop, ...context })
  const frontier = emptyFrontier()
  let root = hasher.empty
  try {
    const entries = checkedEntries(db)
    for (;;) {
      const next = withBookErrors(path, () => entries.next())
      if (next.done === true) return { size: frontier.size, root }
      const { event, line, detailsLine } = next.value
      if (event.seq !== frontier.size + 1) throw new WrongError(`seq ${frontier.size + 1}`, 'is missing')
      appendLeaf(hasher, frontier, hasher.leaf(leafOf(event.seq, line, detailsLine)))
      if (frontier.size === size) root = rootOf(hasher, frontier)
      if (frontier.size % TURN_EVENTS > 0) continue
      progress.at(frontier.size, Math.max(size, frontier.size))
      await new Promise(setImmediate)
      if (stop.aborted) throw new CommandError('stopped; the book was not verified')
    }
  } catch (error) {
    list.wrong('log', findingOf(error))
    return null
  } finally {
    progress.end()
  }
}
