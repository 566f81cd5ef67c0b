import { DAY_MS, formatAt, type Ms, msOf, SECOND_MS } from '../protocol/moment.ts'
import { type Checkpoint, readCheckpoint } from '../tlog/checkpoint.ts'
import { AHEAD_SECONDS_MAX, openVouching, quorumTime, type Voucher, witnessNames } from '../tlog/quorum.ts'
import { DOUBTS } from '../tlog/verdict.ts'
import type { VerifierKey } from '../tlog/vkey.ts'
import type { Check } from './questions/check.ts'
import { WrongError } from './reading/finding.ts'
import type { Primitives } from './reading/primitives.ts'
import { openTrusted, type Trust } from './trust.ts'
import { formatCount } from '../protocol/amount.ts'

/** Path, below `/api/v1/`, of the newest checkpoint that a quorum of the log's witnesses has cosigned. */
export const WITNESSED_PATH = 'log/checkpoint.witnessed'

/** Oldest quorum that a service may show, and oldest event that no quorum vouches for. A frozen view shows only by time. */
export const UNWITNESSED_MS_MAX: number = DAY_MS

/** Keys of the witnesses that a reader has chosen, and how many of their names must vouch. */
export type WitnessDemand = Readonly<{ keys: readonly VerifierKey[]; quorum: number }>

/** Checkpoint that the log has signed, and the chosen witnesses on its note. */
export type WitnessedNote = Readonly<{
  checkpoint: Checkpoint
  note: Uint8Array
  /** Names that vouch for the checkpoint, each with the time of its newest cosignature. */
  vouchers: readonly Voucher[]
  /** Names that have signed it with ML-DSA-44, which this runtime cannot verify. */
  unverified: readonly string[]
}>

/**
 * Opens a note that the log has signed, and verifies the cosignatures of the chosen witnesses on it. Throws a `WrongError`
 * when a known signature is invalid, or when no trusted key of the log has signed.
 */
export async function openWitnessedNote(
  note: Uint8Array,
  trust: Pick<Trust, 'origin' | 'keys'>,
  keys: readonly VerifierKey[],
  primitives: Primitives,
): Promise<WitnessedNote> {
  const { checkpoint } = await openTrusted(WITNESSED_PATH, note, trust, primitives)
  const read = readCheckpoint(note)
  const opened = read.ok ? await openVouching(read.value.note, keys, primitives) : read
  if (!opened.ok) throw new WrongError(WITNESSED_PATH, DOUBTS[opened.doubt])
  return { checkpoint, note, ...opened.value }
}

/** Result of the check for a quorum and its age. `says` names the witnesses, and has no `.` at its end. */
type QuorumResult = Readonly<Pick<Check, 'is' | 'says'>>

/**
 * Judges the quorum of a note, and its time by the local clock. A service must show a quorum of the last 24 hours. That of
 * a folder may be of any age. A cosignature from the future counts for no quorum: one false witness must not make the
 * time of the others wrong. `size` is the number of events that the log has.
 */
export function judgeQuorum(
  { checkpoint, vouchers: all, unverified }: WitnessedNote,
  { keys, quorum }: WitnessDemand,
  { size, now, isService }: Readonly<{ size: number; now: Ms; isService: boolean }>,
): QuorumResult {
  const names = witnessNames(keys)
  const inTime = all.filter(({ timeSeconds }) => (timeSeconds - AHEAD_SECONDS_MAX) * SECOND_MS <= now)
  const vouchers = (inTime.length < quorum ? all : inTime).map(({ name }) => name)
  const missing = names.filter((name) => !vouchers.includes(name) && !unverified.includes(name))
  const blind = unverified.length === 0 ? '' : `; no ML-DSA-44 here to verify ${unverified.join(', ')}`
  const silent = missing.length === 0 ? '' : `; not ${missing.join(', ')}`
  const count = `${vouchers.length} of ${formatCount(names.length, 'witness vouches', 'witnesses vouch')} for ${checkpoint.size} of ${formatCount(size, 'event')}`
  if (vouchers.length < quorum) {
    const says = `${count}, and ${quorum} are asked for${silent}${blind}`
    return { is: vouchers.length + unverified.length < quorum ? 'wrong' : 'not checked', says }
  }
  const seconds = quorumTime(inTime, quorum)
  if (seconds === undefined)
    return { is: 'wrong', says: 'the time of its quorum is more than ten minutes ahead of the local clock' }
  const asOf = msOf(seconds * SECOND_MS)
  const told = `${count}, as of ${formatAt(asOf).replace('.000', '')}: ${vouchers.join(', ')}${silent}${blind}`
  if (isService && now - asOf > UNWITNESSED_MS_MAX)
    return { is: 'wrong', says: `FROZEN: no quorum has vouched for the last 24 hours; ${told}` }
  return { is: 'right', says: told }
}
