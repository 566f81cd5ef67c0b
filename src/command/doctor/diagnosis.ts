import { formatCount } from '../../protocol/amount.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { formatAge } from '../terminal/output.ts'

/** Result of one check of `doctor`: `wrong` must be corrected now, `warn` may cause trouble later. */
export type Diagnosis = Readonly<{ is: 'ok' | 'note' | 'warn' | 'wrong'; what: string; says: string }>

export const ok = (what: string, says: string): Diagnosis => ({ is: 'ok', what, says })
export const note = (what: string, says: string): Diagnosis => ({ is: 'note', what, says })
export const warn = (what: string, says: string): Diagnosis => ({ is: 'warn', what, says })
export const wrong = (what: string, says: string): Diagnosis => ({ is: 'wrong', what, says })

/** Prints a line for each finding. */
export function printDiagnoses(found: readonly Diagnosis[], context: CommandContext): void {
  const width = Math.max(...found.map(({ what }) => what.length))
  for (const { is, what, says } of found) {
    context.stdout.write(`${is.padEnd(5)}  ${what.padEnd(width)}  ${says}\n`)
  }
}

/** Whether held drafts need the operator: refused by the books, or held for more than `overdueMs`. `list` lists them. */
export function heldDiagnosis(
  { held, refused, oldestAtMs }: Readonly<{ held: number; refused: number; oldestAtMs: number | null }>,
  { nowMs, overdueMs, list }: Readonly<{ nowMs: number; overdueMs: number; list: string }>,
): Diagnosis {
  const ageMs = oldestAtMs === null ? 0 : nowMs - oldestAtMs
  const says = `${formatCount(held, 'draft is', 'drafts are')} held`
  const whose = held === 1 ? 'it has waited' : 'the oldest has waited'
  if (refused > 0) return warn('held', `${says}, ${refused} of them refused: see ${list} --state refused`)
  if (ageMs > overdueMs) return warn('held', `${says}; ${whose} for ${formatAge(ageMs)}: see ${list}`)
  return ok('held', held === 0 ? 'no draft is held' : `${says}; ${whose} for ${formatAge(ageMs)}`)
}
