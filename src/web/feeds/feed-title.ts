import type { EventWire } from '../../protocol/event.ts'
import type { Site } from '../markup/site.ts'

/** What happened to a contest or a reward, said of it. */
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

/** An entry's title: what happened, and of which contest, by the name that `nameOf` knows. */
export function entryTitle(
  { type, kind, contestId, kots }: EventWire,
  nameOf: (contestId: number) => string,
  { token }: Site,
): string {
  const happened = HAPPENED[`${type} ${kind}`]
  const moved = kots === null ? '' : `, ${kots} ${token}`
  const contest = contestId === null ? null : nameOf(contestId)
  if (happened !== undefined) return `${contest ?? 'The loyalty reward'} ${happened}${moved}`
  const what = type === 'correction' ? `Correction of a ${kind}` : `${capital(type)} as ${kind}`
  return `${what}${moved}${contest === null ? '' : `: ${contest}`}`
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
