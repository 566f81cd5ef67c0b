import type { LiveStatus } from './island-live-stream.ts'

const SECOND_MS = 1_000

/** Input of the pill's text. */
type PillState = Readonly<{
  standing: LiveStatus | undefined
  paused: boolean
  /** Id of the page's log. */
  log: string | undefined
  /** Moment of the newest event on the page; undefined when the page has none. */
  at: string | undefined
  /** Newest seq on the page, when newer ones are overdue; NaN when unknown. */
  behindAt: number | undefined
}>

/** Text of the pill, and the state that gives it its colour and shape. */
export function pillText(
  { standing, paused, log, at, behindAt }: PillState,
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
