import type { Finding } from '../reading/finding.ts'
import type { FigureCheck } from './question.ts'
import { FIGURE_CHECKS } from './question.ts'

/** Everything that is verified, in the order in which it is reported. */
export const CHECKS: readonly CheckName[] = [
  'signature',
  'root',
  'consistency',
  'archive',
  'log',
  ...FIGURE_CHECKS,
  'events',
]

export type CheckName = FigureCheck | 'signature' | 'root' | 'consistency' | 'archive' | 'log' | 'events'

/** What came of one check. What is absent or could not be reached is not checked, and never taken for right. */
export type Check = Readonly<{
  name: CheckName
  is: 'right' | 'wrong' | 'not checked'
  /** What was checked, or why not. */
  says: string
  findings: readonly Finding[]
}>

/** Gathers what comes of each check; what is never said of one leaves it not checked. */
export type Checklist = Readonly<{
  right(name: CheckName, says: string): void
  unchecked(name: CheckName, why: string): void
  wrong(name: CheckName, finding: Finding): void
  is(name: CheckName): Check['is']
  checks(): readonly Check[]
}>

export function openChecklist(): Checklist {
  const said = new Map<CheckName, Check>()
  const checkOf = (name: CheckName): Check =>
    said.get(name) ?? { name, is: 'not checked', says: 'it did not come so far', findings: [] }
  return {
    right(name, says) {
      const { is, findings } = checkOf(name)
      said.set(name, { name, is: is === 'wrong' ? is : 'right', says, findings })
    },
    unchecked(name, why) {
      const { is, says, findings } = checkOf(name)
      if (is !== 'wrong') said.set(name, { name, is: 'not checked', says: why, findings })
      else said.set(name, { name, is, says, findings })
    },
    wrong(name, finding) {
      const { is, says, findings } = checkOf(name)
      said.set(name, {
        name,
        is: 'wrong',
        says: is === 'not checked' ? '' : says,
        findings: [...findings, finding],
      })
    },
    is: (name) => checkOf(name).is,
    checks: () => CHECKS.map(checkOf),
  }
}
