import type { EventWire } from '../../protocol/event.ts'
import type { EventDetails } from '../../protocol/resources.ts'
import { consistencyProof, isConsistent, tilesOfConsistency, type Tree } from '../../tlog/consistency.ts'
import { formatEntry } from '../../tlog/entries.ts'
import type { Hash } from '../../tlog/hash.ts'
import { inclusionProof, isIncluded, tilesOfInclusion } from '../../tlog/inclusion.ts'
import { DOUBTS } from '../../tlog/verdict.ts'
import {
  type CheckSteps,
  failed,
  hasher,
  type Log,
  passed,
  servedText,
  type SignedCheckpoint,
  tileReader,
  unchecked,
} from './island-verify-log.ts'
import { shortHash, tracingHasher } from './island-verify-path.ts'

/** An event with its details, proved to be in the tree at its seq. */
export type ProvedEvent = EventWire & Pick<EventDetails, 'details'>

/**
 * Proves that an event is in a tree: hashes its lines to the leaf, and the leaf with the hashes beside it to the root. They
 * come from the log's tiles, or are those of a saved proof.
 */
export async function* provedEvent(
  log: Log,
  { size, root, keys }: SignedCheckpoint,
  seq: number,
  saved?: readonly Hash[],
): CheckSteps<ProvedEvent> {
  const index = seq - 1
  const tiles = tilesOfInclusion(index, size)
  if (tiles === undefined) {
    yield unchecked(`The signed log of ${size} events has no event ${seq} yet`)
    return undefined
  }
  const line = await servedText(log, `events/${seq}`)
  const beside = await servedText(log, `events/${seq}/details`)
  const event: EventWire = JSON.parse(line)
  const { seq: of, details }: EventDetails = JSON.parse(beside)
  if (event.seq !== seq || of !== seq) return yield* failed('The lines are of another event')
  const leaf = hasher.leaf(formatEntry(line, details === null ? null : beside))
  const proof = saved ?? inclusionProof(hasher, index, size, await tileReader(log, tiles)) ?? []
  const { noter, steps } = tracingHasher(hasher, leaf)
  const holds = isIncluded(noter, { leaf, index, size, root }, proof)
  const path = { seq, leaf, steps, size, root, isSigned: keys.length > 0 }
  if (!holds) return yield* failed(DOUBTS['not-included'], path)
  yield passed(
    `The line of event ${seq} and its details make the leaf that begins ${shortHash(leaf)}, and ${proof.length} hashes lead from it to that root`,
    path,
  )
  return { ...event, details }
}

/** Checks that a later tree extends an earlier one. `when` names the earlier one. */
export async function* checkGrowth(log: Log, earlier: Tree, now: Tree, when: string): CheckSteps<true> {
  if (earlier.size > now.size) {
    return yield* failed(
      `The log is shorter than at ${when}, or an old copy is shown: it had ${earlier.size} events, and has ${now.size}`,
    )
  }
  const read = await tileReader(log, tilesOfConsistency(earlier.size, now.size) ?? [])
  const proof = consistencyProof(hasher, earlier.size, now.size, read)
  if (earlier.size > 0 && (proof === undefined || !isConsistent(hasher, earlier, now, proof))) {
    return yield* failed(`The log does not continue the one at ${when}: earlier events were changed`)
  }
  const since = now.size - earlier.size
  yield passed(`Unchanged since ${when}: the same ${earlier.size} events, and ${since} after them`)
  return true
}
