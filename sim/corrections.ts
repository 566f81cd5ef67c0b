import { ruleOf } from '../src/protocol/catalogue.ts'
import type { Utterance, SimWorld } from './platform.ts'
import { accountOf } from './platform.ts'

/**
 * Cancels the draft `number`, which said `wrong`; false, and nothing said, when the books could not bear it.
 * What is right follows as a draft of the caller's with `restates`.
 */
export function cancelDraft(world: SimWorld, number: number, wrong: Utterance, reason: string): boolean {
  const { type, kind, contestId, kots } = wrong
  const posting = ruleOf(type, kind)?.posting
  if (posting !== undefined && kots !== undefined) {
    const from = accountOf(posting.to, contestId, kind)
    if (!world.purse.bears(from, kots)) return false
    world.purse.move(from, accountOf(posting.from, contestId, kind), kots)
  }
  world.say({
    type: 'correction',
    kind: type,
    ...(contestId === undefined ? {} : { contestId }),
    ...(kots === undefined ? {} : { kots: -kots }),
    details: { corrects: number, reason },
  })
  return true
}
