import { quorumOf } from './votes.ts'

/** Time that a server may stay behind what enough servers have reached. Servers reach a block seconds apart. */
const BEHIND_MS = 120_000

/**
 * The progress of a chain by the word of enough servers. One server alone cannot move it. So a server that restarts
 * and shows an old state of the chain is known by it.
 */
export type ReachedHead = Readonly<{
  /** Notes the newest slot or finalized block that a server has named, by the server's place in the settings. */
  note(at: number, head: number): void
  /** The newest head that enough servers have reached; 0 before they have answered. */
  newest(): number
  /** Whether a head is older than the one that enough servers had reached before `BEHIND_MS`. */
  isLongPassed(head: number): boolean
}>

/** Opens the head for so many servers. `now` is a monotonic clock in milliseconds. */
export function openReachedHead(servers: readonly unknown[], now: () => number): ReachedHead {
  const heads = servers.map(() => 0)
  let newest = 0
  /** The newest head when it was last kept, and the one that was kept before it, at least `BEHIND_MS` earlier. */
  let kept = { head: 0, atMs: now() }
  let passed = 0

  return {
    note(at, head) {
      heads[at] = Math.max(heads[at] ?? 0, head)
      newest = heads.toSorted((a, b) => b - a)[quorumOf(servers) - 1] ?? 0
      if (now() - kept.atMs < BEHIND_MS) return
      passed = kept.head
      kept = { head: newest, atMs: now() }
    },
    newest: () => newest,
    isLongPassed: (head) => head < passed,
  }
}
