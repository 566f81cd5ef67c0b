/**
 * The room `verify` recomputes root, proofs and every figure of a log from public answers alone. It may import the
 * protocol, the tree, the folds and the client, and nothing that runs on the log's server. It runs in any runtime.
 * Begin to read here: `audit` verifies everything, `inspect` one part. `ask-all.ts` collects the answers, `read-log.ts`
 * reads the log once, `verdicts.ts` and `parts.ts` judge.
 */
import { treeHasher } from '../tlog/hash.ts'
import { formatVkey } from '../tlog/note.ts'
import {
  type AskAllSettings,
  askFolder,
  askLive,
  askWitnessesOf,
  type CollectedAnswers,
  sizesOf,
} from './ask-all.ts'
import type { Entry } from '../protocol/event.ts'
import type { Source } from './reading/source.ts'
import { checkPart, type LogPart, provedEntry, receiptNote } from './parts.ts'
import { AUDIT_CHECKS, type Check, type Checklist, type CheckName, openChecklist } from './checklist.ts'
import { findingOf } from './reading/finding.ts'
import { type ReadLog, readLog } from './read-log.ts'
import {
  type ComparedRoots,
  type Evidence,
  type OpenedSaved,
  openSaved,
  type SavedNote,
} from './saved-checkpoint.ts'
import { openSignedTree, type SignedTree } from './signed-tree.ts'
import { askCheckpoint, askTrust, type OwnKeys, type Trust } from './trust.ts'
import {
  judgeArchive,
  judgeFigures,
  judgeHistory,
  judgeLog,
  judgeSamples,
  judgeSignature,
} from './verdicts.ts'
import { judgeWitnesses, type Vouched } from './witnesses.ts'

/**
 * Settings of an audit. `chance` returns numbers from 0 inclusive to 1 exclusive, and selects moments and pages to
 * compare. `now` is the local clock.
 */
export type AuditSettings = AskAllSettings &
  Readonly<{
    own: OwnKeys
    /** Checkpoints saved by earlier runs. */
    saved: readonly SavedNote[]
    /** Null when the chain is not asked. */
    chain: ChainCheck | null
    signal: AbortSignal
  }>

/** Check of a log's transactions against a blockchain, provided by an option. */
export type ChainCheck = Readonly<{
  /** Opens the collection of a log's transactions. Draws its random sample now, when the checkpoint is fixed. */
  collect(): Readonly<{
    /** Takes the next entry, in the order of the log. */
    add(entry: Entry): void
    ask(list: Checklist, onProgress: (done: number, total: number) => void): Promise<ChainReport>
  }>
  /** Asks about the transaction of one proved event. */
  askEvent(list: Checklist, entry: Entry, source: Source): Promise<ChainReport>
}>

/** Result of the requests to a blockchain. */
export type ChainReport = Readonly<{
  /** Explanations for the user: the sample and its arithmetic, the servers, and what was not compared. */
  lines: readonly string[]
  /** Whether any transaction got a definite answer, or there was none to ask about. */
  isAnswered: boolean
}>

/** Result of an audit. `keep` is the checkpoint to save; null when anything about it is wrong. */
export type Audit = Readonly<{
  checks: readonly Check[]
  /** Further messages for the user. */
  notes: readonly string[]
  /** Null when the chain was not asked. */
  chain: ChainReport | null
  evidence: readonly Evidence[]
  keep: Readonly<{
    origin: string
    /** The witnessed note, if a quorum vouches for it, and the served one. */
    notes: readonly Readonly<{ size: number; note: Uint8Array }>[]
    vkeys: readonly string[]
  }> | null
  /** Null unless a quorum of the chosen witnesses vouches and could not vouch for another log without lying. */
  vouched: Vouched | null
}>

/**
 * Verifies everything that a log publishes: signature, root, consistency with saved checkpoints, chosen witnesses,
 * archive and lines. Recomputes every figure. Faults are in the result. Rejects only when the source cannot be read or
 * the signal is aborted. Memory grows with contests, prizes, payouts and corrections, by 34 bytes for any other event,
 * and by the files of one month.
 */
export async function audit(settings: AuditSettings): Promise<Audit> {
  const { source, primitives } = settings
  const list = openChecklist(askedChecks(settings, AUDIT_CHECKS))
  const known = await openKnown(settings, list)
  if (known === null) return unfinished(list, [])
  const { trust, earlier } = known
  const asked = await orNull(list, () =>
    source.is === 'folder'
      ? askFolder(settings, trust, list)
      : askLive(settings, trust, largestOf(known.sizes), list),
  )
  if (asked === null) return unfinished(list, earlier.notes)
  const transactions = settings.chain?.collect() ?? null
  const savedSizes = [...known.sizes, ...sizesOf(asked.witnesses)]
  const witnessedSize = asked.witnesses?.witnessed?.checkpoint.size ?? 0
  const read = await readLog(settings, asked, { savedSizes, witnessedSize }, transactions)
  judgeSignature(list, asked, trust)
  await judgeLog(list, source, asked, read)
  const isRead = read.broken === null && list.is('root') === 'right'
  const found = judgeOthers(settings, list, asked, { ...read, isRead }, earlier)
  await judgeArchive(list, asked, read, trust, primitives)
  judgeFigures(list, source, asked, read)
  judgeSamples(list, source, asked, read)
  const chain = transactions && (await askChain(settings, list, read, transactions))
  const isSound = isRead && list.is('log') === 'right'
  return finished(list, known, asked, { ...found, chain }, isSound)
}

/** Result for one part of a log: an audit's result, and the proved entry of an event. */
type Inspection = Audit & Readonly<{ entry: Entry | null }>

/**
 * Verifies one part of a log in a few requests, with the signature, the saved checkpoints and the chosen witnesses. The
 * tiles of the tree prove the part. No figure is recomputed. Faults and rejections are those of `audit`.
 */
export async function inspect(settings: AuditSettings, part: LogPart): Promise<Inspection> {
  const { source, primitives } = settings
  const names: readonly CheckName[] = ['signature', 'consistency', 'witnesses']
  const partNames: readonly CheckName[] =
    part.is === 'growth' ? [] : part.is === 'event' ? ['event', 'chain'] : [part.is]
  const list = openChecklist(askedChecks(settings, [...names, ...partNames]))
  const known = await openKnown({ ...settings, saved: [...settings.saved, ...receiptNote(part)] }, list)
  if (known === null) return { ...unfinished(list, []), entry: null }
  const { trust, earlier } = known
  const asked = await orNull(list, async () => {
    const witnesses = await askWitnessesOf(settings, trust)
    const covered = largestOf([...known.sizes, ...sizesOf(witnesses)])
    return { served: await askCheckpoint(source, trust, covered, primitives), covered: 0, witnesses }
  })
  if (asked === null) return { ...unfinished(list, earlier.notes), entry: null }
  judgeSignature(list, asked, trust)
  const tree = openSignedTree(source, asked.served.checkpoint, treeHasher(primitives.sha256))
  const isRead = await proveSizes(list, tree, [...known.sizes, ...sizesOf(asked.witnesses)])
  const unwitnessed = await firstUnwitnessed(settings, list, asked, tree)
  const found = judgeOthers(settings, list, asked, { tree, isRead, unwitnessed }, earlier)
  const entry = await checkPart({ ...settings, trust, tree, size: asked.served.checkpoint.size }, list, part)
  const chain = entry && settings.chain && (await settings.chain.askEvent(list, entry, source))
  return { ...finished(list, known, asked, { ...found, chain }, isRead), entry }
}

async function askChain(
  { onProgress }: AuditSettings,
  list: Checklist,
  { broken, misfit }: ReadLog,
  transactions: ReturnType<ChainCheck['collect']>,
): Promise<ChainReport> {
  if (broken === null && misfit === null && list.is('root') === 'right')
    return transactions.ask(list, (done, total) => onProgress('chain', done, total))
  list.unchecked('chain', 'the events could not all be read')
  return { lines: [], isAnswered: false }
}

function askedChecks(
  { chain, witnesses }: Pick<AuditSettings, 'chain' | 'witnesses'>,
  names: readonly CheckName[],
): readonly CheckName[] {
  return names.filter(
    (name) => !(name === 'chain' && chain === null) && !(name === 'witnesses' && witnesses === null),
  )
}

/** Keys of a log, and the saved checkpoints to compare it with. */
type Known = Readonly<{ trust: Trust; earlier: OpenedSaved; sizes: readonly number[] }>

async function openKnown(
  { source, own, saved, primitives }: Pick<AuditSettings, 'source' | 'own' | 'saved' | 'primitives'>,
  list: Checklist,
): Promise<Known | null> {
  const trust = await orNull(list, () => askTrust(source, own, primitives))
  if (trust === null) return null
  const earlier = await openSaved(saved, trust, primitives)
  return { trust, earlier, sizes: earlier.checkpoints.map(({ checkpoint }) => checkpoint.size) }
}

function largestOf(sizes: readonly number[]): number {
  return sizes.reduce((most, size) => Math.max(most, size), 0)
}

/** Proves the roots at these sizes by the tiles of the tree. False, with a finding, when a root cannot be proved. */
async function proveSizes(list: Checklist, tree: SignedTree, sizes: readonly number[]): Promise<boolean> {
  try {
    for (const size of sizes) await tree.prove(size)
    return true
  } catch (error) {
    list.wrong('consistency', findingOf(error))
    return false
  }
}

/** Moment of the first event that no quorum vouches for; null when there is none, or when it cannot be proved. */
async function firstUnwitnessed(
  settings: AuditSettings,
  list: Checklist,
  { served, witnesses }: ComparedAnswers,
  tree: SignedTree,
): Promise<ReadLog['unwitnessed']> {
  const size = witnesses?.witnessed?.checkpoint.size ?? Infinity
  if (size >= served.checkpoint.size) return null
  try {
    const { entry } = await provedEntry(settings, tree, size + 1)
    return entry.event.atMs
  } catch (error) {
    list.wrong('witnesses', findingOf(error))
    return null
  }
}

type ComparedAnswers = Pick<CollectedAnswers, 'served' | 'covered' | 'witnesses'>
type Compared = Pick<Audit, 'evidence' | 'vouched'>

/** Compares a log with the saved checkpoints and with the trees that its witnesses have seen. */
function judgeOthers(
  { source, now, witnesses: demand }: Pick<AuditSettings, 'source' | 'now' | 'witnesses'>,
  list: Checklist,
  { served, covered, witnesses }: ComparedAnswers,
  roots: ComparedRoots & Pick<ReadLog, 'unwitnessed'>,
  earlier: OpenedSaved,
): Compared {
  const evidence = judgeHistory(list, { served, covered }, roots, earlier)
  if (demand === null || witnesses === null) return { evidence, vouched: null }
  const judged = judgeWitnesses(list, source, { served, now: now(), demand }, witnesses, roots)
  return { evidence: [...evidence, ...judged.evidence], vouched: judged.vouched }
}

function unfinished(list: Checklist, notes: readonly string[]): Audit {
  return { checks: list.checks(), notes, chain: null, evidence: [], keep: null, vouched: null }
}

/**
 * Result of a finished audit. `isSound`: the entries or proofs lead to the signed root, so the checkpoint may be kept.
 */
function finished(
  list: Checklist,
  { trust, earlier }: Known,
  { served, witnesses }: ComparedAnswers,
  found: Compared & Pick<Audit, 'chain'>,
  isSound: boolean,
): Audit {
  const isKept = isSound && (['consistency', 'witnesses'] as const).every((name) => list.is(name) !== 'wrong')
  // The witnessed note comes first, because it proves more than another of the same size.
  const isWitnessed = list.is('witnesses') === 'right'
  const kept = [...(isWitnessed ? [witnesses?.witnessed ?? served] : []), served]
  return {
    checks: list.checks(),
    notes: [...earlier.notes, ...(witnesses?.notes ?? [])],
    ...found,
    keep: isKept
      ? {
          origin: trust.origin,
          notes: kept.map(({ checkpoint, note }) => ({ size: checkpoint.size, note })),
          vkeys: trust.keys.map(({ key }) => formatVkey(key)),
        }
      : null,
  }
}

/** Runs a step that all others need. Null when it finds a fault, which ends the audit. */
async function orNull<Value>(list: Checklist, work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work()
  } catch (error) {
    list.wrong('signature', findingOf(error))
    return null
  }
}
