import { formatVkey } from '../tlog/vkey.ts'
import type { AskAllSettings } from './ask-all.ts'
import { askFolder, askLive } from './ask-all.ts'
import type { ChainQuestions } from './ask-chain.ts'
import { askChain, transactionsOf } from './ask-chain.ts'
import type { Check, Checklist } from './questions/check.ts'
import { openChecklist } from './questions/check.ts'
import { findingOf } from './reading/finding.ts'
import type { ChainReport } from './onchain/judge-transactions.ts'
import { readLog } from './read-log.ts'
import type { Evidence, SavedNote } from './saved-checkpoint.ts'
import { openSaved } from './saved-checkpoint.ts'
import type { OwnKeys } from './served-checkpoint.ts'
import { askTrust } from './served-checkpoint.ts'
import {
  judgeArchive,
  judgeFigures,
  judgeHistory,
  judgeLog,
  judgeSamples,
  judgeSignature,
} from './verdicts.ts'

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
  keep: Readonly<{ origin: string; size: number; note: Uint8Array; vkeys: readonly string[] }> | null
}>

/**
 * Verifies everything that a log publishes: signature, root, consistency with every saved checkpoint, archive, lines, and
 * every figure, which is recomputed. Faults are in the result. Rejects only when the source cannot be read or the signal
 * is aborted. Memory grows with contests, prizes, payouts and corrections, by 34 bytes for any other event, and by the
 * files of one month.
 */
export async function audit(settings: AuditSettings): Promise<Audit> {
  const { source, primitives, own, saved } = settings
  const list = openChecklist(settings.chain !== null)
  const none = { notes: [], chain: null, evidence: [], keep: null }
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
  const read = await readLog(settings, asked, sizes, transactions)
  judgeSignature(list, asked, trust)
  await judgeLog(list, source, asked, read)
  const evidence = judgeHistory(list, asked, read, earlier)
  await judgeArchive(list, asked, read, trust, primitives)
  judgeFigures(list, source, asked, read)
  judgeSamples(list, source, asked, read)
  const chain = await askChain(settings, list, read, transactions)
  const sound = (['signature', 'root', 'log'] as const).every((name) => list.is(name) === 'right')
  const { origin, keys } = trust
  const { note, checkpoint } = asked.served
  const vkeys = keys.map(({ key }) => formatVkey(key))
  const keep =
    sound && list.is('consistency') !== 'wrong' ? { origin, size: checkpoint.size, note, vkeys } : null
  return { checks: list.checks(), notes: earlier.notes, chain, evidence, keep }
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
