import type { Finding } from './reading/finding.ts'
import { FIGURE_CHECKS, type FigureCheck } from './figures/published-answer.ts'

/** Checks of a whole log, in the order of the report. */
export const AUDIT_CHECKS: readonly CheckName[] = [
  'signature',
  'root',
  'consistency',
  'witnesses',
  'archive',
  'log',
  ...FIGURE_CHECKS,
  'events',
  'chain',
]

/** Name of a check. The last five are of one part of a log, or of one file of it. */
export type CheckName =
  | FigureCheck
  | 'signature'
  | 'root'
  | 'consistency'
  | 'witnesses'
  | 'archive'
  | 'log'
  | 'events'
  | 'chain'
  | 'event'
  | 'month'
  | 'proof'
  | 'file'
  | 'tables'

/** Material of the reader that would make a result firmer: a key from elsewhere, or a checkpoint of an earlier visit. */
export type Lack = 'key' | 'checkpoint'

/** Result of one check. A check without data, or not reached, is `not checked`, never `right`. */
export type Check = Readonly<{
  name: CheckName
  is: 'right' | 'wrong' | 'not checked'
  /** Text for the report: the checked figures, or the reason why they were not checked. */
  says: string
  findings: readonly Finding[]
  lacks?: Lack
}>

/** Collects the results of the checks. A check without a result is `not checked`. */
export type Checklist = Readonly<{
  right(name: CheckName, says: string, lacks?: Lack): void
  unchecked(name: CheckName, why: string, lacks?: Lack): void
  wrong(name: CheckName, finding: Finding): void
  is(name: CheckName): Check['is']
  checks(): readonly Check[]
}>

/** Opens an empty checklist for these checks, reported in this order. */
export function openChecklist(names: readonly CheckName[]): Checklist {
  const results = new Map<CheckName, Check>()
  const checkOf = (name: CheckName): Check =>
    results.get(name) ?? { name, is: 'not checked', says: 'an earlier check failed', findings: [] }
  return {
    right(name, says, lacks) {
      const { is, findings } = checkOf(name)
      results.set(name, { name, is: is === 'wrong' ? is : 'right', says, findings, ...(lacks && { lacks }) })
    },
    unchecked(name, why, lacks) {
      const { is, findings } = checkOf(name)
      if (is !== 'wrong')
        results.set(name, { name, is: 'not checked', says: why, findings, ...(lacks && { lacks }) })
    },
    wrong(name, finding) {
      const { is, says, findings } = checkOf(name)
      results.set(name, {
        name,
        is: 'wrong',
        says: is === 'not checked' ? '' : says,
        findings: [...findings, finding],
      })
    },
    is: (name) => checkOf(name).is,
    checks: () => names.map(checkOf),
  }
}
