import type { EventWire } from '../../protocol/event.ts'
import { shortAmount } from '../markup/amount-html.ts'
import { plainKind, whoWins } from '../markup/kind-words.ts'
import { plainText } from '../markup/page-lead.ts'
import { html } from '../markup/html.ts'
import { type RuleKind, ruleKind } from '../../protocol/rules.ts'
import type { Site } from '../markup/site.ts'

/** Predicates of events about a contest or a reward, by type and kind. */
const HAPPENED: { readonly [Type in 'contest' | 'loyalty']: Readonly<Record<RuleKind<Type>, string>> } = {
  contest: {
    scheduled: 'was planned',
    rescheduled: 'was rescheduled',
    opened: 'opened',
    closed: 'closed',
    cancelled: 'was cancelled',
    paid: 'is settled',
  },
  loyalty: {
    scheduled: 'was planned',
    accrual: 'was set aside',
    input: 'has its input fixed',
    output: 'was computed',
  },
}

/** Title of a feed entry, such as "First (contest 1) closed". Its amount is cut as on pages. */
export function entryTitle(
  { type, kind, contestId, kots }: EventWire,
  nameOf: (contestId: number) => string,
  { token }: Site,
): string {
  const happened = type === 'contest' || type === 'loyalty' ? happenedOf(type, kind) : undefined
  const amount = kots === null ? null : `${shortAmount(kots)} ${token}`
  if (amount !== null && type === 'loyalty' && kind === 'accrual')
    return `${amount} added to the loyalty fund`
  const moved = amount === null ? '' : `, ${amount}`
  const contest = contestId === null ? null : nameOf(contestId)
  if (happened !== undefined) return `${contest ?? 'The loyalty reward'} ${happened}${moved}`
  const what = type === 'correction' ? `Correction of a ${kind}` : titleOf(type, kind)
  return `${what}${moved}${contest === null ? '' : `: ${contest}`}`
}

/** Type and kind in words: `Payout to voters`. */
function titleOf(type: EventWire['type'], kind: string): string {
  if (type === 'payout') return plainText(html`Payout to ${whoWins(kind)}`)
  if (type === 'prize') return plainText(html`Prize of ${whoWins(kind)}`)
  return plainText(html`${type}, ${plainKind(kind)}`)
}

function happenedOf(type: keyof typeof HAPPENED, kind: string): string | undefined {
  const named = ruleKind(type, kind)
  const kinds: Readonly<Partial<Record<string, string>>> = HAPPENED[type]
  return named === undefined ? undefined : kinds[named]
}
