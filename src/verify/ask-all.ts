import { askFigures, type AskFiguresSettings, type CollectedFigures } from './figures/ask-figures.ts'
import type { Checklist } from './checklist.ts'
import { findingOf } from './reading/finding.ts'
import { type ListedMonth, listMonths, sha256SumsOf } from './reading/manifest.ts'
import type { Ms } from '../protocol/moment.ts'
import type { Primitives } from './reading/primitives.ts'
import { askSamples, noSamples, type Samples } from './samples.ts'
import type { Source } from './reading/source.ts'
import { askCheckpoint, checkpointOfMonths, type ServedCheckpoint, type Trust } from './trust.ts'
import { parseUtf8 } from '../tlog/note.ts'
import { askWitnesses, type CollectedWitnesses, type ChosenWitnesses } from './witnesses.ts'
import { askedAgain } from './reading/live-source.ts'

/** Answers fetched before the log is read, so that one pass through the log checks all of them. */
export type CollectedAnswers = Readonly<{
  served: ServedCheckpoint
  /** Number of events that the other answers and checkpoints cover. */
  covered: number
  figures: CollectedFigures
  samples: Samples
  /** Null when the list of months or a manifest is wrong. */
  months: readonly ListedMonth[] | null
  /** Null when no witnesses were chosen. */
  witnesses: CollectedWitnesses | null
}>

export type AskAllSettings = Readonly<{
  source: Source
  primitives: Primitives
  chance: () => number
  now: () => Ms
  /** Null when the reader has chosen no witnesses. */
  witnesses: ChosenWitnesses | null
  onProgress(stage: 'asking' | 'reading' | 'chain', done: number, total: number): void
}>

/**
 * Fetches a service's figures between two checkpoints, so that the second covers all of them. `savedSize` is the
 * largest size of the saved checkpoints. Rejects with a `WrongError` when a checkpoint cannot be verified.
 */
export async function askLive(
  settings: AskAllSettings,
  trust: Trust,
  savedSize: number,
  list: Checklist,
): Promise<CollectedAnswers> {
  const { source, primitives } = settings
  const first = await askCheckpoint(source, trust, 0, primitives)
  const { size } = first.checkpoint
  const figures = await askFigures(figureSettingsOf(settings, size))
  const samples = await askSamples(settings, trust, size)
  const counted = Math.max(size, samples.newest, samples.tree?.size ?? 0)
  const witnesses = await askWitnessesOf(settings, trust)
  const asked = figures.answers.reduce((most, { seq }) => Math.max(most, seq), counted)
  // A node may be a few seconds behind another one, whose tree the witnesses have seen.
  const known = Math.max(asked, savedSize, ...sizesOf(witnesses))
  const then = await askCheckpoint(source, trust, known, primitives)
  const months = await monthsOf(source, then.checkpoint.size, list)
  const covered = Math.max(asked, closedBy(months ?? []))
  // A month may have closed after that checkpoint.
  const served =
    then.checkpoint.size < covered ? await askCheckpoint(source, trust, covered, primitives) : then
  return { served, covered, figures, samples, months, witnesses }
}

/** Seq of the first event after the newest closed month, which closed it; 0 without closed months. */
function closedBy(months: readonly ListedMonth[]): number {
  return months.reduce((most, { manifest }) => Math.max(most, manifest === null ? 0 : manifest.size + 1), 0)
}

/** Reads a folder: its checkpoint, or that of its last manifest, and the saved answers. */
export async function askFolder(
  settings: AskAllSettings,
  trust: Trust,
  list: Checklist,
): Promise<CollectedAnswers> {
  const { source, primitives } = settings
  const months = await monthsOf(source, 0, list)
  const has = (await source.read('log/checkpoint')) !== undefined
  const served = has
    ? await askCheckpoint(source, trust, 0, primitives)
    : await checkpointOfMonths(months ?? [], trust, primitives)
  const figures = await askFigures(figureSettingsOf(settings, 0))
  const witnesses = await askWitnessesOf(settings, trust)
  return { served, covered: 0, figures, samples: noSamples(), months, witnesses }
}

/** Answers about the chosen witnesses; null without any. */
export async function askWitnessesOf(
  { source, witnesses, primitives }: AskAllSettings,
  trust: Trust,
): Promise<CollectedWitnesses | null> {
  return witnesses === null ? null : askWitnesses(source, trust, witnesses, primitives)
}

/** Sizes of the trees that witnesses were shown. */
export function sizesOf(witnesses: CollectedWitnesses | null): readonly number[] {
  const all = [...(witnesses?.views ?? []), ...(witnesses?.witnessed ? [witnesses.witnessed] : [])]
  return all.map(({ checkpoint }) => checkpoint.size)
}

function figureSettingsOf(
  { source, chance, now, onProgress }: AskAllSettings,
  covers: number,
): AskFiguresSettings {
  let done = 0
  return {
    source,
    covers,
    chance,
    now,
    onAnswer(left) {
      done += 1
      onProgress('asking', done, done + left)
    },
  }
}

async function monthsOf(
  source: Source,
  size: number,
  list: Checklist,
): Promise<readonly ListedMonth[] | null> {
  try {
    const months = await listMonths(source, size)
    await checkSums(source, months, list)
    return months
  } catch (error) {
    list.wrong('archive', findingOf(error))
    return null
  }
}

/** Checks that `SHA256SUMS` agrees with the manifests. It may have one more month, closed a moment ago. */
async function checkSums(source: Source, months: readonly ListedMonth[], list: Checklist): Promise<void> {
  const place = 'archive/SHA256SUMS'
  const expected = sha256SumsOf(months)
  const body = await askedAgain(
    source.pause,
    () => source.read(place),
    // A node that is behind the list may lack the newest closed month.
    (sums) => source.is === 'service' && !textOf(sums).startsWith(expected),
  )
  if (body === undefined && source.is === 'folder') return
  const isLacking =
    source.is === 'folder' && months.some(({ closed, manifest }) => closed && manifest === null)
  if (!isLacking && !textOf(body).startsWith(expected)) {
    list.wrong('archive', { place, what: 'contradicts the manifests' })
  }
}

const textOf = (body: Uint8Array | undefined): string => parseUtf8(body ?? new Uint8Array(0)) ?? ''
