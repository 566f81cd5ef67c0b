import type { OtherWriters, RunningClock } from './other-writers.ts'
import type { WriterMark } from './writer-mark.ts'

/** Decides which node does work of its own accord. Two nodes may do it at once: correctness never depends on this. */
export type Leading = Readonly<{
  /** Notes that the newest message is of this node, or of another. */
  newestIs(owner: 'ours' | 'others'): void
  /** Reason why this node does such work; null when it does not. */
  claim(): WriterMark['leads']
}>

/** Silence of the node of the newest message after which another node does its work, in milliseconds. */
const LEADER_SILENCE_MS = 2000

/** Opens the decision. A node that cannot publish claims nothing: its claim would keep the others from the work. */
export function openLeading(
  node: string,
  writers: OtherWriters,
  clock: RunningClock,
  canPublish: () => boolean,
): Leading {
  let isOurs = false
  let othersMs = clock.now()

  /** Whether another writer has claimed the work lately, and goes before this one. */
  function isPreceded(): boolean {
    return writers.heard().some(({ mark, atMs }) => {
      if (mark.leads === null || clock.now() - atMs >= LEADER_SILENCE_MS) return false
      return mark.leads === 'newest' || mark.node < node
    })
  }

  return {
    newestIs(owner) {
      isOurs = owner === 'ours'
      if (!isOurs) othersMs = clock.now()
    },
    claim() {
      if (!canPublish()) return null
      if (isOurs) return 'newest'
      return clock.now() - othersMs < LEADER_SILENCE_MS || isPreceded() ? null : 'silence'
    },
  }
}
