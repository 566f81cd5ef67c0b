import { isSame } from '../tlog/hash.ts'
import type { CollectedAnswers } from './ask-all.ts'
import type { Checklist } from './checklist.ts'
import type { Finding } from './reading/finding.ts'
import { type EntryRange, firstDifference } from './replay/first-difference.ts'
import type { Manifest } from './reading/manifest.ts'
import type { Primitives } from './reading/primitives.ts'
import { checkOf, FIGURE_CHECKS, type FigureCheck } from './figures/published-answer.ts'
import type { ReadLog } from './read-log.ts'
import {
  type ComparedRoots,
  type Evidence,
  historyOf,
  type KnownRoots,
  type OpenedSaved,
} from './saved-checkpoint.ts'
import type { Source } from './reading/source.ts'
import { openListed, type ServedCheckpoint, type Trust, type TrustBasis } from './trust.ts'
import { formatCount } from '../protocol/amount.ts'
import { formatBase64, formatUtf8 } from '../tlog/note.ts'

const UNREAD = 'the events could not all be read'
const NOTHING = 'there is nothing to compare'

const BASES: Readonly<Record<TrustBasis, string>> = {
  given: 'the key that you gave',
  kept: 'the key kept at an earlier visit',
  served: 'a key from the same server, which proves little: give one from somewhere else',
}

/** Text about a checkpoint: its size, its signers, and why their key is trusted. */
export function signatureSays(
  { checkpoint, signers }: Pick<ServedCheckpoint, 'checkpoint' | 'signers'>,
  basis: TrustBasis,
): string {
  return `${formatCount(checkpoint.size, 'event')}, signed by ${signers.join(' and ')} (${BASES[basis]})`
}

/** Reports who signed the checkpoint, and why the key is trusted. */
export function judgeSignature(
  list: Checklist,
  { served }: Pick<CollectedAnswers, 'served'>,
  { basis }: Trust,
): void {
  const { checkpoint, signers } = served
  list.right(
    'signature',
    signatureSays({ checkpoint, signers }, basis),
    basis === 'served' ? 'key' : undefined,
  )
}

/** Judges the lines and the root. If the root differs, the tiles show the first entry that differs. */
export async function judgeLog(
  list: Checklist,
  source: Source,
  { served }: CollectedAnswers,
  { tree, broken, misfit }: ReadLog,
): Promise<void> {
  const { size, root } = served.checkpoint
  if (misfit !== null) list.wrong('log', misfit)
  if (broken !== null) {
    list.wrong(broken.place.startsWith('archive') ? 'archive' : 'log', broken)
    list.unchecked('log', UNREAD)
    list.unchecked('root', UNREAD)
    return
  }
  list.right('log', `seqs 1 to ${size} without a gap, eight fields each, moments in order`)
  const recomputed = tree.rootAt(size)
  if (recomputed !== undefined && isSame(recomputed, root)) {
    list.right('root', `${formatBase64(root)} is the root over ${formatCount(size, 'event')}`)
  } else {
    const range = await firstDifference(source, tree, size)
    const from = range === null ? '' : `: ${rangeText(range)}`
    list.wrong('root', {
      place: 'log/checkpoint',
      what: `its root is not that of the ${formatCount(size, 'event')}${from}`,
    })
  }
}

function rangeText({ from, to }: EntryRange): string {
  return to - from === 1
    ? `seq ${to} differs from the signed one`
    : `the first that differs from the signed one is in seqs ${from + 1} to ${to}`
}

/** Judges the closed months: their roots and checkpoints. Their digests were checked while their files were read. */
export async function judgeArchive(
  list: Checklist,
  { served, months }: CollectedAnswers,
  { tree, broken }: ReadLog,
  trust: Trust,
  primitives: Primitives,
): Promise<void> {
  if (months === null) return
  const manifests = months.flatMap(({ manifest }) => manifest ?? [])
  const reached = manifests.filter(({ size }) => size <= served.checkpoint.size && size <= tree.size())
  for (const manifest of reached) {
    const finding = await manifestFinding(manifest, tree, trust, primitives)
    if (finding === null) continue
    list.wrong('archive', finding)
    break
  }
  const lacking = months.filter(({ closed, manifest }) => closed && manifest === null).length
  const newer = manifests.length - reached.length
  if (broken !== null) list.unchecked('archive', UNREAD)
  else if (newer > 0) list.unchecked('archive', `${newer} closed months are newer than the checkpoint`)
  else if (lacking > 0) list.unchecked('archive', `${lacking} closed months have no manifest here`)
  else list.right('archive', `digests, manifests, roots and signatures of closed months: ${reached.length}`)
}

/**
 * Fault of a manifest: its root or its checkpoint; null when both belong to the log. `tree` knows the root at its size.
 */
export async function manifestFinding(
  { month, size, root, checkpoint }: Manifest,
  tree: KnownRoots,
  trust: Trust,
  primitives: Primitives,
): Promise<Finding | null> {
  const place = `archive/${month}.json`
  const recomputed = tree.rootAt(size)
  if (recomputed === undefined || !isSame(recomputed, root)) {
    return { place, what: `its root is not that of the first ${formatCount(size, 'event')}` }
  }
  const opened = await openListed(formatUtf8(checkpoint), trust, primitives)
  return opened.ok && opened.value.size === size && isSame(opened.value.root, root)
    ? null
    : { place, what: 'its checkpoint is not signed for its root' }
}

/** Judges every fetched figure. */
export function judgeFigures(
  list: Checklist,
  source: Source,
  { figures }: CollectedAnswers,
  { recomputed }: ReadLog,
): void {
  const left = recomputed.left()
  for (const name of FIGURE_CHECKS) {
    const result = recomputed.results.get(name)
    const mine = left.filter(({ endpoint }) => checkOf(endpoint) === name)
    const absent = figures.absent.filter(({ check }) => check === name).length
    const wrong = figures.wrong.filter(({ check }) => check === name).map(({ finding }) => finding)
    for (const finding of [...wrong, ...(result?.wrong ?? [])]) list.wrong(name, finding)
    const answers = result?.answers ?? 0
    if (mine.length > 0)
      list.unchecked(name, source.is === 'folder' ? 'it is newer than the checkpoint' : UNREAD)
    else if (answers === 0) list.unchecked(name, source.is === 'folder' ? 'not in the folder' : NOTHING)
    else if (absent > 0)
      list.unchecked(
        name,
        `${formatCount(absent, 'answer is', 'answers are')} not in the folder; ${answers} are right`,
      )
    else list.right(name, figureSays(name, answers))
  }
}

function figureSays(name: FigureCheck, answers: number): string {
  if (name === 'summary') return answers === 1 ? 'as of now' : `as of now and of ${answers - 1} past moments`
  if (name === 'ledgers') return `${answers} recomputed, with every payout`
  return answers === 1 ? 'recomputed' : `${answers} answers recomputed`
}

/** Judges the same lines at other addresses. */
export function judgeSamples(
  list: Checklist,
  source: Source,
  { samples }: CollectedAnswers,
  { broken, tree }: ReadLog,
): void {
  for (const finding of samples.wrong) list.wrong('events', finding)
  const recomputed = tree.rootAt(samples.tree?.size ?? 0)
  if (samples.tree !== null && recomputed !== undefined && !isSame(recomputed, samples.tree.root))
    list.wrong('events', { place: samples.tree.place, what: 'is signed for other entries' })
  if (source.is === 'folder') list.unchecked('events', 'a folder has no pages of them')
  else if (broken !== null) list.unchecked('events', UNREAD)
  else if (samples.pages === 0) list.unchecked('events', NOTHING)
  else {
    const unpassed = samples.unpassed()
    if (unpassed !== null) list.wrong('events', unpassed)
    list.right(
      'events',
      `${samples.pages} sampled pages have the lines of the archive, and a receipt leads to the root`,
    )
  }
}

/** Judges every saved checkpoint against the tree of the log as it is served now. */
export function judgeHistory(
  list: Checklist,
  { served, covered }: Pick<CollectedAnswers, 'served' | 'covered'>,
  { tree, isRead }: ComparedRoots,
  saved: OpenedSaved,
): readonly Evidence[] {
  const { size } = served.checkpoint
  for (const finding of saved.wrong) list.wrong('consistency', finding)
  if (size < covered) {
    const what = `ROLLBACK: it covers ${formatCount(size, 'event')}, and ${covered} were signed or counted a moment ago`
    list.wrong('consistency', { place: 'log/checkpoint', what })
  }
  const comparable = saved.checkpoints.filter(({ checkpoint }) => isRead || checkpoint.size >= size)
  const histories = comparable.map((checkpoint) => historyOf(checkpoint, served, tree))
  for (const { finding } of histories) if (finding !== null) list.wrong('consistency', finding)
  const count = saved.checkpoints.length
  if (comparable.length < count) list.unchecked('consistency', UNREAD)
  else if (count === 0)
    list.unchecked('consistency', 'no checkpoint was saved at an earlier visit', 'checkpoint')
  else
    list.right(
      'consistency',
      count === 1
        ? `the log grew from the ${formatCount(comparable[0]?.checkpoint.size ?? 0, 'event')} of ${comparable[0]?.name}`
        : `the log grew from ${count} checkpoints saved before`,
    )
  return histories.flatMap((history) => history.evidence ?? [])
}
