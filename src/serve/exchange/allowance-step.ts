import type { Decision, Policy } from '../allowance/allowance.ts'
import { formatPolicy, formatRateLimit } from '../allowance/allowance.ts'
import type { Counters } from '../allowance/counters.ts'
import { extraCost, scopeOfNothing, usedUp } from '../allowance/counters.ts'
import type { HeaderList } from '../http/headers.ts'
import type { Reply } from '../http/route.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Eventual } from './eventual.ts'
import { whenKnown } from './eventual.ts'
import type { StepRefusal, Step, Visit } from './visit.ts'
import { stepRefusal } from './visit.ts'

/** Opens the step that counts a request, and refuses it when its caller has used up the allowance. */
export function openAllowanceStep(
  counters: Counters | null,
  { rateLimited }: Pick<Metrics, 'rateLimited'>,
): Step {
  return ({ request, found, path, underApi, caller, decision, terms }): Eventual<StepRefusal | undefined> => {
    const scope = found?.route.allowance ?? scopeOfNothing(path, underApi)
    if (counters === null || scope === 'none' || request.method === 'OPTIONS') return undefined
    const { policy, decide } = counters[scope]
    return whenKnown(decision ?? decide(caller), (decided) => {
      terms.allowance = allowanceHeaders(policy, decided)
      if (decided.allowed) return undefined
      rateLimited.inc({ scope })
      return stepRefusal(usedUp(policy, decided))
    })
  }
}

/** Counts the rows that a page has read. */
export type RowsCharge = (visit: Pick<Visit, 'caller' | 'terms'>, reply: Reply) => Eventual<Reply>

/** Opens the step that counts rows against the allowance of pages; the reply stays the same. */
export function openRowsCharge(counters: Counters | null): RowsCharge {
  return ({ caller, terms }, reply) => {
    const cost = extraCost('rows' in reply ? reply.rows : 0)
    if (counters === null || cost === 0) return reply
    const { policy, decide } = counters.pages
    return whenKnown(decide(caller, cost), (decided) => {
      terms.allowance = allowanceHeaders(policy, decided)
      return reply
    })
  }
}

function allowanceHeaders(policy: Policy, decision: Decision): HeaderList {
  return ['RateLimit-Policy', formatPolicy(policy), 'RateLimit', formatRateLimit(policy, decision)]
}
