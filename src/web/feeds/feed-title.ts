import type { EventWire } from '../../protocol/event.ts'
import { capitalized } from '../markup/prose.ts'
import type { Site } from '../markup/site.ts'

/** Predicates of events about a contest or a reward, by type and kind. */
const HAPPENED: Readonly<Record<string, string>> = {
  'contest scheduled': 'was planned',
  'contest rescheduled': 'was given other times',
  'contest opened': 'opened',
  'contest closed': 'closed',
  'contest cancelled': 'was cancelled',
  'contest paid': 'is paid in full',
  'loyalty scheduled': 'was planned',
  'loyalty accrual': 'was added to',
  'loyalty input': 'has its input fixed',
  'loyalty output': 'was computed',
}

/** Title of a feed entry, such as "First (contest 1) closed". */
export function entryTitle(
  { type, kind, contestId, kots }: EventWire,
  nameOf: (contestId: number) => string,
  { token }: Site,
): string {
  const happened = HAPPENED[`${type} ${kind}`]
  const moved = kots === null ? '' : `, ${kots} ${token}`
  const contest = contestId === null ? null : nameOf(contestId)
  if (happened !== undefined) return `${contest ?? 'The loyalty reward'} ${happened}${moved}`
  const what = type === 'correction' ? `Correction of a ${kind}` : `${capitalized(type)} as ${kind}`
  return `${what}${moved}${contest === null ? '' : `: ${contest}`}`
}
