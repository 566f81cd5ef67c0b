import type { LogReader } from '../../src/log/store/reader.ts'
import type { Seq } from '../../src/protocol/seq.ts'
import { allocateCallerSlots, openCallerSlots } from '../../src/serve/allowance/caller-slots.ts'
import { type Following, openHeadWaits } from '../../src/serve/following/head-waits.ts'

/** Settings of a stage that follows a log. */
type FollowingStage = Readonly<{
  /** Tells the head of the whole log; null when it cannot be known. */
  barrier: () => Promise<Seq | null>
  /** Longest wait of a request for a seq, in milliseconds. */
  waitMsMax?: number
}>

/** Requests that may wait for a seq: of one caller, and of all. */
const WAITS = { perCaller: 3, perNode: 5 }

/** Opens the waits of a stage; null for a stage that is alone. */
export function openFollowing(reader: LogReader, settings: FollowingStage | undefined): Following | null {
  if (settings === undefined) return null
  const { barrier, waitMsMax = 5_000 } = settings
  const slots = openCallerSlots(allocateCallerSlots(WAITS, 'test'))
  return { reader, waits: openHeadWaits({ reader, slots, barrier }), waitMsMax }
}
