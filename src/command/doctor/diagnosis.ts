import { formatCount } from '../../protocol/amount.ts'
import type { CommandContext } from '../terminal/command-context.ts'
import { formatAge } from '../terminal/output.ts'

/** Verdict of one check. `wrong` must be fixed now; `warn` may cause trouble later. */
export type CheckVerdict = Readonly<{ is: 'ok' | 'note' | 'warn' | 'wrong'; says: string }>

/** Verdict with the name of its check. */
export type Diagnosis = CheckVerdict & Readonly<{ what: string }>

export const ok = (says: string): CheckVerdict => ({ is: 'ok', says })
export const note = (says: string): CheckVerdict => ({ is: 'note', says })
export const warn = (says: string): CheckVerdict => ({ is: 'warn', says })
export const wrong = (says: string): CheckVerdict => ({ is: 'wrong', says })

/** Verdicts of a check with this name. Leaves out null. */
export function named(what: string, ...verdicts: readonly (CheckVerdict | null)[]): readonly Diagnosis[] {
  return verdicts.flatMap((verdict) => (verdict === null ? [] : { ...verdict, what }))
}

/** Prints a line for each finding. */
export function printDiagnoses(found: readonly Diagnosis[], context: CommandContext): void {
  const width = Math.max(...found.map(({ what }) => what.length))
  for (const { is, what, says } of found) {
    context.stdout.write(`${is.padEnd(5)}  ${what.padEnd(width)}  ${says}\n`)
  }
}

/**
 * Verdict on held drafts, which need the operator if the books refuse them or they are older than `overdueMs`. `list`
 * is the command that lists them.
 */
export function heldVerdict(
  { held, refused, oldestAtMs }: Readonly<{ held: number; refused: number; oldestAtMs: number | null }>,
  { nowMs, overdueMs, list }: Readonly<{ nowMs: number; overdueMs: number; list: string }>,
): CheckVerdict {
  const ageMs = oldestAtMs === null ? 0 : nowMs - oldestAtMs
  const says = `${formatCount(held, 'draft is', 'drafts are')} held`
  const whose = held === 1 ? 'it has waited' : 'the oldest has waited'
  if (refused > 0) return warn(`${says}, ${refused} of them refused: see ${list} --state refused`)
  if (ageMs > overdueMs) return warn(`${says}; ${whose} for ${formatAge(ageMs)}: see ${list}`)
  return ok(held === 0 ? 'no draft is held' : `${says}; ${whose} for ${formatAge(ageMs)}`)
}
