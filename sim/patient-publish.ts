import type { Ms } from '../src/protocol/moment.ts'
import { MINUTE_MS, msOf, SECOND_MS } from '../src/protocol/moment.ts'
import type { PublishDraft } from './import-draft.ts'

/**
 * Outcome of a request: accepted, to be sent again `later` because the door accepts nothing now, or refused. A refusal
 * `mayPass` when drafts are held: it may be another one once they are published.
 */
export type SendResult = 'accepted' | 'later' | Readonly<{ refused: string; mayPass: boolean }>

type PatientDoor = Readonly<{
  send(drafts: readonly PublishDraft[]): Promise<SendResult>
  now(): Ms
  /** Resolves at the moment, or when aborted. */
  until(moment: Ms, signal: AbortSignal): Promise<void>
  /** Called for a draft that is given up, with the reason of its refusal. */
  skip(draft: PublishDraft, reason: string): void
}>

/** Wait before a request is sent again that the door could not accept. */
const LATER_MS: number = 5 * SECOND_MS
/** Wait before a refused draft is sent again that may pass, and the time after which it is given up. */
const AGAIN_MS: number = SECOND_MS
const AGAIN_MS_MAX: number = MINUTE_MS

/**
 * Publishes drafts in this order, until aborted. When a request is refused, its drafts are sent one by one, and those
 * that contradict events which users published by hand are skipped.
 */
export async function publishPatiently(
  drafts: readonly PublishDraft[],
  door: PatientDoor,
  signal: AbortSignal,
): Promise<void> {
  const [first] = drafts
  if (first === undefined) return
  const end = door.now() + AGAIN_MS_MAX
  while (!signal.aborted) {
    const sent = await door.send(drafts)
    if (sent === 'accepted') return
    if (sent === 'later') {
      await door.until(msOf(door.now() + LATER_MS), signal)
    } else if (drafts.length > 1) {
      for (const draft of drafts) await publishPatiently([draft], door, signal)
      return
    } else if (sent.mayPass && door.now() < end) {
      await door.until(msOf(door.now() + AGAIN_MS), signal)
    } else {
      return door.skip(first, sent.refused)
    }
  }
}
