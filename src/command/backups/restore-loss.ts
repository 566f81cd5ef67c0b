import type { StoreContent } from '../../log/backup/backup-folder.ts'
import type { HighWater } from '../../log/store/high-water.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { openAnySchema, storePath } from '../../log/store/store.ts'
import { newestCheckpoint } from '../../log/tree/ready-log.ts'
import { openSignedTrees, tryRead } from '../../log/tree/signed-trees.ts'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { type Diagnosis, ok, warn, wrong } from '../doctor/diagnosis.ts'
import { shellQuoted } from '../terminal/output.ts'
import { formatCount } from '../../protocol/amount.ts'

/** Traces of the log in a data directory. */
type Known = Readonly<{
  data: string
  mark: HighWater | null
  /** The present store: null when there is none, or when it cannot be read. */
  present: StoreContent | null
}>

type LossSettings = Readonly<{
  isAccepted: boolean
  /** Identity of the log of the backup when a table carries it; null otherwise. */
  shared: LogIdentity | null
  /** Words with which the user starts this program. */
  program: string
}>

/**
 * Events that readers have seen and the backup lacks. `raised`: the mark to write before the restore, when the present
 * store alone knows them.
 */
type Loss = Readonly<{ lost: boolean; raised: HighWater | null; found: readonly Diagnosis[] }>

/** Finds out whether published events are missing in the backup, by the high-water mark and by the present store. */
export function lossOf(
  { log, events, origin }: StoreContent,
  { data, mark, present }: Known,
  { isAccepted, shared, program }: LossSettings,
): Loss {
  const loss = isAccepted ? warn : wrong
  const remedy = isAccepted
    ? 'the next start begins a new log without them'
    : 'use a newer backup, or --accept-loss to give them up'
  if (mark?.former.some(({ id }) => id === log) === true) {
    const says = `the log ${mark.log} continues this one since a loss was accepted: ${remedy}`
    return lostWith(loss('loss', says))
  }
  const other = mark?.log ?? present?.log ?? log
  if (shared?.former.some(({ id }) => id === other) === true) {
    const says = `${origin} continues the log of this directory: what it lacks is in the kept store, and ${program} cluster lost --data ${shellQuoted(data)} lists its drafts`
    return nothingLost(warn('loss', says))
  }
  if (other !== log) {
    const says = `the directory belongs to another log, ${other}: restore into an empty directory`
    return nothingLost(wrong('loss', says))
  }
  const published = mark === null ? 0 : sizeOf(mark)
  const stored = present?.log === log ? present.events : 0
  const missing = Math.max(published, stored) - events
  if (missing > 0) {
    const known = published >= stored ? 'the log has published' : 'the present store has'
    const says = `the backup lacks ${formatCount(missing, 'event')} after seq ${events}, which ${known}`
    if (shared !== null) return lostWith(warn('loss', `${says}: the node reads them from its table`))
    const raised = stored > published ? newestMark(data) : null
    if (raised === null && published <= events) return lostWith(wrong('loss', `${says}. ${UNPROVEN}`))
    return lostWith(loss('loss', `${says}: ${remedy}`), raised)
  }
  if (mark !== null) return nothingLost(ok('loss', 'the backup holds every published event'))
  return nothingLost(warn('loss', nothingTells(program)))
}

const UNPROVEN =
  'Its newest tree is not the one that was signed, so the next start would not know of the loss: move the present store away, restore, and ask a reader for a checkpoint before the start'

function nothingTells(program: string): string {
  return `without a high-water mark nothing tells what was published after the backup: ask a reader for a checkpoint, and run ${program} verify URL --since FILE with it after the start`
}

function lostWith(found: Diagnosis, raised: HighWater | null = null): Loss {
  return { lost: true, raised, found: [found] }
}

function nothingLost(found: Diagnosis): Loss {
  return { lost: false, raised: null, found: [found] }
}

function sizeOf({ checkpoint }: HighWater): number {
  const read = readCheckpoint(Buffer.from(checkpoint))
  return read.ok ? read.value.checkpoint.size : 0
}

/**
 * The newest tree of the present store as a mark; null when a key of its log has not signed it. A start refuses such a
 * mark, and does not take it for a loss.
 */
function newestMark(data: string): HighWater | null {
  const db = openAnySchema(storePath(data), { readOnly: true })
  try {
    const mark = tryRead(() => newestCheckpoint(db))
    if (mark === undefined) return null
    const signed = tryRead(() => openSignedTrees(db).signedIn(mark.checkpoint, []))
    return signed === undefined ? null : mark
  } finally {
    db.close()
  }
}
