import { type Diagnosis, ok, warn } from './diagnosis.ts'
import { formatAge } from '../terminal/rounded-quantity.ts'
import { formatCount } from '../../protocol/amount.ts'

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
