import type { StreamStatus } from '../../client/stream.ts'

const SECOND_MS = 1_000

/** All that the pill says something about. */
export type Standing = Readonly<{
  status: StreamStatus | undefined
  paused: boolean
  /** When the next attempt is due, and when the page was last known to be live. */
  dueAt: number
  heardAt: number
  /** The newest event shown, while there are newer ones that nobody holds back; NaN when that is not known. */
  behindAt: number | undefined
}>

/** What the pill says, and the state that gives it its colour and shape: never more than is known. */
export function wordsOf(standing: Standing, now: number): readonly [state: string, words: string] {
  const { status, paused, dueAt, heardAt, behindAt } = standing
  if (paused) return ['paused', 'Paused']
  switch (status?.state) {
    case 'live':
      if (behindAt === undefined) return ['live', 'Live']
      return ['waiting', behindAt >= 0 ? `Catching up from #${behindAt}` : 'Catching up']
    case 'catching-up':
    case 'repairing':
      return ['waiting', 'Catching up']
    case 'reconnecting':
      return ['lost', `Reconnecting, next try in ${Math.max(0, Math.ceil((dueAt - now) / SECOND_MS))} s`]
    case 'offline':
      return ['lost', `Offline, showing ${new Date(heardAt).toISOString().slice(11, 19)} UTC`]
    case 'failed':
    case 'ended':
      return ['lost', 'Not live: reload for newer events']
    case 'connecting':
    case undefined:
      return ['waiting', 'Connecting']
  }
}
