import type { Standing } from './island-live-stream.ts'

const SECOND_MS = 1_000

/** All that the pill says something about. */
export type Seen = Readonly<{
  standing: Standing | undefined
  paused: boolean
  /** The log's id that the page was made of. */
  log: string | undefined
  /** Of when the newest event is that the page shows; undefined where it does not say. */
  at: string | undefined
  /** The newest event shown, where newer ones should have been shown by now; NaN when it is not known which. */
  behindAt: number | undefined
}>

/** What the pill says, and the state that gives it its colour and shape: never more than is known. */
export function wordsOf(
  { standing, paused, log, at, behindAt }: Seen,
  now: number,
): readonly [state: string, words: string] {
  if (standing?.log && standing.log !== log) return ['lost', 'Another log is here now: reload']
  if (paused) return ['paused', 'Paused']
  switch (standing?.state) {
    case 'live':
      if (behindAt === undefined) return ['live', 'Live']
      return ['waiting', behindAt >= 0 ? `Catching up from #${behindAt}` : 'Catching up']
    case 'catching-up':
    case 'repairing':
      return ['waiting', 'Catching up']
    case 'reconnecting':
      return [
        'lost',
        `Reconnecting, next try in ${Math.max(0, Math.ceil((standing.dueAt - now) / SECOND_MS))} s`,
      ]
    case 'offline':
      return [
        'lost',
        at === undefined ? 'Offline' : `Offline, showing ${at.slice(0, 19).replace('T', ' ')} UTC`,
      ]
    case 'failed':
    case 'ended':
      return ['lost', 'Not live: reload for newer events']
    case 'connecting':
    case undefined:
      return ['waiting', 'Connecting']
  }
}
