import { formatAt, type Ms } from '../protocol/moment.ts'
import { isSame } from '../tlog/hash.ts'
import { witnessNames } from '../tlog/quorum.ts'
import { formatHex } from '../tlog/text.ts'
import type { Checklist } from './questions/check.ts'
import type { ReadLog } from './read-log.ts'
import type { Source } from './reading/source.ts'
import { type Evidence, type History, historyOf } from './saved-checkpoint.ts'
import type { ServedCheckpoint } from './served-checkpoint.ts'
import type { CollectedWitnesses, WitnessView } from './ask-witnesses.ts'
import type { ComparedRoots } from './verdicts.ts'
import { judgeQuorum, UNWITNESSED_MS_MAX, type WitnessDemand, WITNESSED_PATH } from './witnessed-note.ts'
import { formatCount } from '../protocol/amount.ts'

const UNREAD = 'the events could not all be read'

/** First events that a quorum vouches for, and the number of witnesses that would have to lie to show others another log. */
export type Vouched = Readonly<{ size: number; liars: number }>

type WitnessJudgement = Readonly<{ evidence: readonly Evidence[]; vouched: Vouched | null }>

/** Judges the quorum, and every tree that a witness was shown, against the log as it is served now. */
export function judgeWitnesses(
  list: Checklist,
  source: Source,
  { served, now, demand }: Readonly<{ served: ServedCheckpoint; now: Ms; demand: WitnessDemand }>,
  { witnessed, wrong, views }: CollectedWitnesses,
  { tree, isRead, unwitnessed }: ComparedRoots & Pick<ReadLog, 'unwitnessed'>,
): WitnessJudgement {
  const isService = source.is === 'service'
  const { size } = served.checkpoint
  const own = witnessed === null ? [] : [{ ...witnessed, name: WITNESSED_PATH, isSigned: true }]
  const all = [...own, ...views]
  const comparable = all.filter(({ checkpoint }) => isRead || checkpoint.size >= size)
  const evidence = comparable.flatMap((view, index) => {
    const isFirst = comparable.findIndex(({ checkpoint }) => isEqual(checkpoint, view.checkpoint)) === index
    const { is, finding, evidence: found } = historyOf(view, served, tree)
    // A folder is a copy, which may be older than what it is compared with.
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
  // Without a signature of the log, the word of the witness stands against that of the log.
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
