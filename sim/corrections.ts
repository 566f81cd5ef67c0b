import { accountOf, type SimDraft, type SimWorld } from './platform.ts'
import { ruleOf } from '../src/protocol/rules.ts'

/**
 * Publishes a correction of the draft `number`, whose content was `wrong`. Returns false, without a correction, when an
 * account would be overdrawn. The caller publishes the replacement, with `restates`.
 */
export function cancelDraft(world: SimWorld, number: number, wrong: SimDraft, reason: string): boolean {
  const { type, kind, contestId, kots } = wrong
  const posting = ruleOf(type, kind)?.posting
  if (posting !== undefined && kots !== undefined) {
    const from = accountOf(posting.to, contestId, kind)
    if (!world.ledger.canPay(from, kots)) return false
    world.ledger.move(from, accountOf(posting.from, contestId, kind), kots)
  }
  world.publish({
    type: 'correction',
    kind: type,
    ...(contestId === undefined ? {} : { contestId }),
    ...(kots === undefined ? {} : { kots: -kots }),
    details: { corrects: number, reason },
  })
  return true
}
