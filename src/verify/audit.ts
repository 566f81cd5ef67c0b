import { formatVkey } from '../tlog/vkey.ts'
import { type AskAllSettings, askFolder, askLive, type CollectedAnswers, sizesOf } from './ask-all.ts'
import { askChain, type ChainQuestions, transactionsOf } from './ask-chain.ts'
import { type Check, type Checklist, openChecklist } from './questions/check.ts'
import { findingOf } from './reading/finding.ts'
import type { ChainReport } from '../finality/audit/judge-transactions.ts'
import { type ReadLog, readLog } from './read-log.ts'
import { type Evidence, openSaved, type SavedNote } from './saved-checkpoint.ts'
import { askTrust, type OwnKeys } from './served-checkpoint.ts'
import type { Trust } from './trust.ts'
import {
  judgeArchive,
  judgeFigures,
  judgeHistory,
  judgeLog,
  judgeSamples,
  judgeSignature,
} from './verdicts.ts'
import { judgeWitnesses, type Vouched } from './judge-witnesses.ts'

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
    chain: ChainQuestions | null
    signal: AbortSignal
  }>

/** Result of an audit. `keep` is the checkpoint to save; null when anything about it is wrong. */
export type Audit = Readonly<{
  checks: readonly Check[]
  /** Further notes for the user. */
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
  /** Null without a quorum of chosen witnesses that could not vouch for two logs without a lie. */
  vouched: Vouched | null
}>

/**
 * Verifies everything that a log publishes: signature, root, consistency with every saved checkpoint, the chosen witnesses,
 * archive, lines, and every figure, which is recomputed. Faults are in the result. Rejects only when the source cannot be read or the signal
 * is aborted. Memory grows with contests, prizes, payouts and corrections, by 34 bytes for any other event, and by the
 * files of one month.
 */
export async function audit(settings: AuditSettings): Promise<Audit> {
  const { source, primitives, own, saved } = settings
  const list = openChecklist({ chain: settings.chain !== null, witnesses: settings.witnesses !== null })
  const none = { notes: [], chain: null, evidence: [], keep: null, vouched: null }
  const trust = await orNull(list, () => askTrust(source, own, primitives))
  if (trust === null) return { checks: list.checks(), ...none }
  const earlier = await openSaved(saved, trust, primitives)
  const sizes = earlier.checkpoints.map(({ checkpoint }) => checkpoint.size)
  const asked = await orNull(list, () =>
    source.is === 'folder'
      ? askFolder(settings, trust, list)
      : askLive(
          settings,
          trust,
          sizes.reduce((most, size) => Math.max(most, size), 0),
          list,
        ),
  )
  if (asked === null) return { checks: list.checks(), ...none, notes: earlier.notes }
  // The key of the sample is drawn now: the checkpoint no longer changes.
  const transactions = transactionsOf(settings)
  const savedSizes = [...sizes, ...sizesOf(asked.witnesses)]
  const witnessedSize = asked.witnesses?.witnessed?.checkpoint.size ?? 0
  const read = await readLog(settings, asked, { savedSizes, witnessedSize }, transactions)
  judgeSignature(list, asked, trust)
  await judgeLog(list, source, asked, read)
  const history = judgeHistory(list, asked, read, earlier)
  const { evidence, vouched } = judgedWitnesses(settings, list, asked, read)
  await judgeArchive(list, asked, read, trust, primitives)
  judgeFigures(list, source, asked, read)
  judgeSamples(list, source, asked, read)
  const chain = await askChain(settings, list, read, transactions)
  const sound = (['signature', 'root', 'log'] as const).every((name) => list.is(name) === 'right')
  const isWitnessed = list.is('witnesses') === 'right'
  const isKept = sound && (['consistency', 'witnesses'] as const).every((name) => list.is(name) !== 'wrong')
  return {
    checks: list.checks(),
    notes: [...earlier.notes, ...(asked.witnesses?.notes ?? [])],
    chain,
    evidence: [...history, ...evidence],
    keep: isKept ? keepOf(trust, asked, isWitnessed) : null,
    vouched,
  }
}

function judgedWitnesses(
  { source, now, witnesses: demand }: AuditSettings,
  list: Checklist,
  { served, witnesses }: CollectedAnswers,
  read: ReadLog,
): ReturnType<typeof judgeWitnesses> {
  return demand === null || witnesses === null
    ? { evidence: [], vouched: null }
    : judgeWitnesses(list, source, { served, now: now(), demand }, witnesses, read)
}

function keepOf(
  { origin, keys }: Trust,
  { served, witnesses }: CollectedAnswers,
  isWitnessed: boolean,
): Audit['keep'] {
  // The witnessed note comes first: of two notes of one size it proves more.
  const kept = [...(isWitnessed ? [witnesses?.witnessed ?? served] : []), served]
  const notes = kept.map(({ checkpoint, note }) => ({ size: checkpoint.size, note }))
  return { origin, notes, vkeys: keys.map(({ key }) => formatVkey(key)) }
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
