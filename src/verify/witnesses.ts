import { DAY_MS, formatAt, type Ms, msOf, SECOND_MS } from '../protocol/moment.ts'
import { type Checkpoint, readCheckpoint } from '../tlog/checkpoint.ts'
import { AHEAD_SECONDS_MAX, openVouching, quorumTime, type Voucher, witnessNames } from '../tlog/quorum.ts'
import { DOUBTS } from '../tlog/verdict.ts'
import { formatHex, formatUtf8, type VerifierKey } from '../tlog/note.ts'
import type { Check, Checklist } from './checklist.ts'
import { type Finding, findingOf, WrongError } from './reading/finding.ts'
import type { Primitives } from './reading/primitives.ts'
import { openListed, openTrusted, type ServedCheckpoint, type Trust } from './trust.ts'
import { formatCount } from '../protocol/amount.ts'
import type { Source } from './reading/source.ts'
import { isSame } from '../tlog/hash.ts'
import { type ComparedRoots, type Evidence, type History, historyOf } from './saved-checkpoint.ts'

/** Path, below `/api/v1/`, of the newest checkpoint that a quorum of the log's witnesses has cosigned. */
export const WITNESSED_PATH = 'log/checkpoint.witnessed'

/** Oldest quorum that a service may show, and oldest event without a quorum. Only time reveals a frozen view. */
const UNWITNESSED_MS_MAX: number = DAY_MS

/** Keys of the chosen witnesses, and the number of their names that must vouch. */
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
 * Opens a note that the log has signed, and verifies the chosen witnesses' cosignatures on it. Throws a `WrongError`
 * when a known signature is invalid, or when no trusted key of the log has signed.
 */
async function openWitnessedNote(
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

/** Result of the check for a quorum and its age. `says` names the witnesses and has no final `.`. */
type QuorumResult = Readonly<Pick<Check, 'is' | 'says'>>

/**
 * Judges the quorum of a note, and its time by the local clock. A service must show a quorum of the last 24 hours; that
 * of a folder may be of any age. A cosignature from the future does not count, so that one false witness does not spoil
 * the time of the others. `size` is the number of events in the log.
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

/** Answer at a witness's address: a body, none (404), or the reason why there is no answer. */
export type WitnessAnswer =
  | Readonly<{ is: 'note'; body: Uint8Array }>
  | Readonly<{ is: 'none' }>
  | Readonly<{ is: 'silent'; why: string }>

/** Witnesses that a reader has chosen. Those with an address are asked directly. */
export type ChosenWitnesses = WitnessDemand &
  Readonly<{
    /** Addresses below which witnesses answer, without a final slash, with the keys of each. */
    asked: readonly Readonly<{ url: string; keys: readonly VerifierKey[] }>[]
    /** Asks a witness for a note. Limits the bytes and the time of the answer. */
    ask(address: string): Promise<WitnessAnswer>
  }>

/** Tree that a witness was shown. */
type WitnessView = Readonly<{
  /** Name of the witness. */
  name: string
  note: Uint8Array
  checkpoint: Checkpoint
  /** Whether a key of the log has signed it, so that it is proof for others too. */
  isSigned: boolean
}>

/** Answers of the log and of the witnesses, before they are compared with the log's entries. */
export type CollectedWitnesses = Readonly<{
  /** Null when there is none, or when it is wrong. */
  witnessed: WitnessedNote | null
  wrong: Finding | null
  views: readonly WitnessView[]
  /** Messages about witnesses whose own answer says nothing. */
  notes: readonly string[]
}>

/** Asks the log for its witnessed checkpoint and, for a service, the witnesses themselves. */
export async function askWitnesses(
  source: Source,
  trust: Trust,
  chosen: ChosenWitnesses,
  primitives: Primitives,
): Promise<CollectedWitnesses> {
  const asked = source.is === 'service' ? chosen.asked : []
  const path = `${formatHex(primitives.sha256(formatUtf8(trust.origin)))}/checkpoint`
  const answers = asked.map(async ({ url, keys }) => {
    const name = witnessNames(keys).join(' and ')
    const answer = await chosen.ask(`${url}/${path}`)
    const { view, note } = await viewOf(name, keys, answer, trust, primitives)
    return { view, note: note === null ? null : `witness ${name} ${note}` }
  })
  const [own, ...read] = await Promise.all([witnessedOf(source, trust, chosen, primitives), ...answers])
  return {
    ...own,
    views: read.flatMap(({ view }) => view ?? []),
    notes: read.flatMap(({ note }) => note ?? []),
  }
}

async function witnessedOf(
  source: Source,
  trust: Trust,
  demand: WitnessDemand,
  primitives: Primitives,
): Promise<Pick<CollectedWitnesses, 'witnessed' | 'wrong'>> {
  try {
    const note = await source.read(WITNESSED_PATH)
    return {
      witnessed: note === undefined ? null : await openWitnessedNote(note, trust, demand.keys, primitives),
      wrong: null,
    }
  } catch (error) {
    return { witnessed: null, wrong: findingOf(error) }
  }
}

/**
 * Reads the answer of a witness. A checkpoint counts with the signature of either the log or the witness. If both were
 * needed, a log could hide another tree by signing it in another form.
 */
async function viewOf(
  name: string,
  keys: readonly VerifierKey[],
  answer: WitnessAnswer,
  trust: Trust,
  primitives: Primitives,
): Promise<Readonly<{ view: WitnessView | null; note: string | null }>> {
  const none = (note: string): Readonly<{ view: null; note: string }> => ({ view: null, note })
  if (answer.is === 'silent') return none(`does not answer: ${answer.why}`)
  if (answer.is === 'none') return none('has cosigned no checkpoint of this log')
  const read = readCheckpoint(answer.body)
  if (!read.ok) return none(`answers with something else: ${DOUBTS[read.doubt]}`)
  const { checkpoint, note } = read.value
  if (checkpoint.origin !== trust.origin) return none('answers with a checkpoint of another log')
  const isSigned = (await openListed(answer.body, trust, primitives)).ok
  const opened = await openVouching(note, keys, primitives)
  const vouching = opened.ok ? opened.value : { vouchers: [], unverified: [] }
  const isCosigned = vouching.vouchers.length > 0
  if (!isSigned && !isCosigned)
    return none('answers with a checkpoint that neither the log nor it has signed')
  const view: WitnessView = { name, note: answer.body, checkpoint, isSigned }
  if (!isSigned) return { view, note: 'answers with a checkpoint that no known key of the log has signed' }
  if (isCosigned) return { view, note: null }
  return {
    view,
    note:
      vouching.unverified.length > 0
        ? 'answers with a signature of ML-DSA-44, which cannot be verified here'
        : 'answers with a checkpoint that it has not cosigned',
  }
}

const UNREAD = 'the events could not all be read'

/**
 * First events that a quorum vouches for, and the number of witnesses that would have to lie to show others another
 * log.
 */
export type Vouched = Readonly<{ size: number; liars: number }>

/** Roots of a log, and the moment of its first event that no quorum vouches for; null when there is none. */
type WitnessedRoots = ComparedRoots & Readonly<{ unwitnessed: Ms | null }>

type WitnessJudgement = Readonly<{ evidence: readonly Evidence[]; vouched: Vouched | null }>

/** Judges the quorum, and compares every tree that a witness was shown with the served log. */
export function judgeWitnesses(
  list: Checklist,
  source: Source,
  { served, now, demand }: Readonly<{ served: ServedCheckpoint; now: Ms; demand: WitnessDemand }>,
  { witnessed, wrong, views }: CollectedWitnesses,
  { tree, isRead, unwitnessed }: WitnessedRoots,
): WitnessJudgement {
  const isService = source.is === 'service'
  const { size } = served.checkpoint
  const own = witnessed === null ? [] : [{ ...witnessed, name: WITNESSED_PATH, isSigned: true }]
  const all = [...own, ...views]
  const comparable = all.filter(({ checkpoint }) => isRead || checkpoint.size >= size)
  const evidence = comparable.flatMap((view, index) => {
    const isFirst = comparable.findIndex(({ checkpoint }) => isEqual(checkpoint, view.checkpoint)) === index
    const { is, finding, evidence: found } = historyOf(view, served, tree)
    // A folder is a copy, which may be older than the witnesses' checkpoint.
    if (finding === null || (is === 'rollback' && !isService)) return []
    const what = view.name === WITNESSED_PATH ? finding.what : viewSays(is, view, size)
    list.wrong('witnesses', { place: view.name, what })
    if (found === null || !view.isSigned || !isFirst) return []
    // Witnesses may have been shown several trees of one size.
    return [{ ...found, name: `${found.name}-${formatHex(view.checkpoint.root.subarray(0, 4))}` }]
  })
  if (witnessed === null) {
    const missing = { place: WITNESSED_PATH, what: 'is missing: no quorum vouches for this log' }
    if (isService || wrong !== null) list.wrong('witnesses', wrong ?? missing)
    else list.unchecked('witnesses', `${WITNESSED_PATH} is not in the folder`)
    return { evidence, vouched: null }
  }
  const { is, says } = judgeQuorum(witnessed, demand, { size, now, isService })
  const covered = witnessed.checkpoint.size
  if (is === 'wrong') list.wrong('witnesses', { place: WITNESSED_PATH, what: says })
  else if (comparable.length < all.length) list.unchecked('witnesses', UNREAD)
  else if (covered > size) list.unchecked('witnesses', `${says}; the folder has fewer events`)
  else if (is === 'not checked') list.unchecked('witnesses', says)
  else if (isService && unwitnessed !== null && now - unwitnessed > UNWITNESSED_MS_MAX)
    list.unchecked(
      'witnesses',
      `${says}; no quorum vouches for event ${covered + 1} of ${formatAt(unwitnessed)}`,
    )
  else list.right('witnesses', says)
  // Two quorums of Q out of N have 2Q − N witnesses in common.
  const liars = 2 * demand.quorum - witnessNames(demand.keys).length
  const isRight = list.is('witnesses') === 'right' && liars > 0
  return { evidence, vouched: isRight ? { size: covered, liars } : null }
}

function isEqual(one: WitnessView['checkpoint'], other: WitnessView['checkpoint']): boolean {
  return one.size === other.size && isSame(one.root, other.root)
}

function viewSays(is: History['is'], { checkpoint, isSigned }: WitnessView, size: number): string {
  // Without a signature of the log, it is the witness's statement against the log's.
  if (!isSigned) {
    const shown =
      is === 'rollback'
        ? formatCount(checkpoint.size, 'event')
        : `other events than the first ${checkpoint.size} here`
    return `SPLIT VIEW or a false witness: it has cosigned ${shown}, and no known key of the log has signed them`
  }
  return is === 'rollback'
    ? `ROLLBACK or SPLIT VIEW: this witness was shown ${formatCount(checkpoint.size, 'event')}, and the log has ${size} here`
    : `SPLIT VIEW: this witness was shown other events than the first ${checkpoint.size} here`
}
