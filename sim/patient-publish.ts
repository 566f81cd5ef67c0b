import { type Ms, msOf, SECOND_MS } from '../src/protocol/moment.ts'
import type { PublishDraft } from './import-draft.ts'

/**
 * Outcome of a request: accepted, to be sent again `later` because the publish API accepts nothing now, or refused. A refusal
 * `mayPass` when drafts are held: it may be another one once they are published.
 */
export type SendResult = 'accepted' | 'later' | Readonly<{ refused: string; mayPass: boolean }>

type PatientApi = Readonly<{
  send(drafts: readonly PublishDraft[]): Promise<SendResult>
  now(): Ms
  /** Resolves at the moment, or when aborted. */
  until(moment: Ms, signal: AbortSignal): Promise<void>
  /** Called for a draft that is given up, with the reason of its refusal. */
  skip(draft: PublishDraft, reason: string): void
}>

/** Wait before a request is sent again that the publish API could not accept. */
const LATER_MS: number = 5 * SECOND_MS
/** Wait before a refused draft is sent again that may pass, and the time after which it is given up. */
const AGAIN_MS: number = SECOND_MS
const AGAIN_MS_MAX: number = 30 * SECOND_MS

/**
 * Opens what publishes drafts in their order, until aborted. When a request is refused, its drafts are sent one by one, and those that contradict events which
 * users published by hand are skipped. One whose refusal may pass is sent again for half a minute first. This happens
 * once for each contest, so that a contest that a user has ended does not delay all others.
 */
export function openPatientPublish(
  api: PatientApi,
  signal: AbortSignal,
): (drafts: readonly PublishDraft[]) => Promise<void> {
  const givenUp = new Set<number>()

  async function publishOne(draft: PublishDraft): Promise<void> {
    const end = api.now() + AGAIN_MS_MAX
    while (!signal.aborted) {
      const sent = await api.send([draft])
      if (sent === 'accepted') return
      if (sent === 'later') {
        await api.until(msOf(api.now() + LATER_MS), signal)
        continue
      }
      const isOver = api.now() >= end || givenUp.has(draft.contestId ?? 0)
      if (!sent.mayPass || isOver) {
        if (sent.mayPass && draft.contestId !== undefined) givenUp.add(draft.contestId)
        return api.skip(draft, sent.refused)
      }
      await api.until(msOf(api.now() + AGAIN_MS), signal)
    }
  }

  return async (drafts) => {
    while (!signal.aborted && drafts.length > 0) {
      const sent = await api.send(drafts)
      if (sent === 'accepted') return
      if (sent !== 'later') {
        for (const draft of drafts) await publishOne(draft)
        return
      }
      await api.until(msOf(api.now() + LATER_MS), signal)
    }
  }
}
