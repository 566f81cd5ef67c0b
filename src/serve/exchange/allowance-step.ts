import { type Decision, formatPolicy, formatRateLimit, type Policy } from '../allowance/allowance.ts'
import { type Counters, extraCost, scopeOfNothing, usedUp } from '../allowance/counters.ts'
import type { HeaderList } from '../http/headers.ts'
import type { Reply } from '../http/route.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { type Step, type StepRefusal, stepRefusal, type Visit } from './visit.ts'

/** Opens the step that counts a request, and refuses it when its caller has used up the allowance. */
export function openAllowanceStep(
  counters: Counters | null,
  { rateLimited }: Pick<Metrics, 'rateLimited'>,
): Step {
  return ({ request, found, path, underApi, caller, decision, terms }): StepRefusal | undefined => {
    const scope = found?.route.allowance ?? scopeOfNothing(path, underApi)
    if (counters === null || scope === 'none' || request.method === 'OPTIONS') return undefined
    const { policy, decide } = counters[scope]
    const decided = decision ?? decide(caller)
    terms.allowance = allowanceHeaders(policy, decided)
    if (decided.allowed) return undefined
    rateLimited.inc({ scope })
    return stepRefusal(usedUp(policy, decided))
  }
}

/** Counts the rows that a page has read. */
export type RowsCharge = (visit: Pick<Visit, 'caller' | 'terms'>, reply: Reply) => void

/** Opens the count of rows against the allowance of pages. */
export function openRowsCharge(counters: Counters | null): RowsCharge {
  return ({ caller, terms }, reply) => {
    const cost = extraCost('rows' in reply ? reply.rows : 0)
    if (counters === null || cost === 0) return
    const { policy, decide } = counters.pages
    terms.allowance = allowanceHeaders(policy, decide(caller, cost))
  }
}

function allowanceHeaders(policy: Policy, decision: Decision): HeaderList {
  return ['RateLimit-Policy', formatPolicy(policy), 'RateLimit', formatRateLimit(policy, decision)]
}
