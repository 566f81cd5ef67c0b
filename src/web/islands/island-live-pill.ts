import type { LiveStatus } from './island-live-stream.ts'
import { put } from './island-still.ts'

/** Input of the pill's text. Moments are wall-clock times in milliseconds. */
type PillInput = Readonly<{
  standing: LiveStatus | undefined
  paused: boolean
  /** Newest seq of the log, and of the page; 0 and NaN when unknown. */
  head: number
  shown: number
  /** Whether newer events are overdue on the page. */
  overdue: boolean
  /** Status that refused the page, and the moment of its next request; undefined while nothing refuses it. */
  refused: Readonly<{ status: number; until: number }> | undefined
}>

/** State that gives the pill its colour and shape, its word, what the word means, and whether a notice says it too. */
type PillText = readonly [state: string, word: string, meaning?: string, noticed?: true]

const clock = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)} UTC`

function pillText(
  { standing, paused, overdue, refused, head }: PillInput,
  log: string | undefined,
): PillText {
  const { state, limited, dueAt = 0 } = standing ?? {}
  if (standing?.log && standing.log !== log) {
    return ['lost', 'Not live', 'Another log is here: reload the page.', true]
  }
  if (paused) return ['paused', 'Paused']
  if (refused !== undefined || (limited === true && state === 'waiting')) {
    const { status, until } = refused ?? { status: 429, until: dueAt }
    const cause = status === 429 ? 'Too many requests from your address.' : 'The service cannot answer now.'
    return ['waiting', 'Waiting', `${cause} This page updates again at ${clock(until)}.`, true]
  }
  if (state === 'live' && head === 0) return ['live', 'Live', 'The log has no event yet.']
  if (state === 'live') return overdue ? ['waiting', 'Behind'] : ['live', 'Live']
  if (state === 'failed') return ['lost', 'Not live', 'Reload the page for newer events.']
  const due = `The next try is at ${clock(dueAt)}.`
  if (state === 'offline') return ['lost', 'Offline', `The service cannot be reached. ${due}`]
  if (state !== 'waiting') return ['waiting', 'Not live']
  return ['waiting', 'Waiting', `No stream: this page updates every minute. ${due}`]
}

/** Opens the pill. The returned function shows what it says: a word, its meaning on demand, and urgent news in a notice. */
export function openPill(pill: HTMLElement): (input: PillInput) => void {
  const [word, more] = pill.querySelectorAll('span, p')
  const notice = document.createElement('p')
  notice.className = 'notice'
  return (input) => {
    const { head, shown } = input
    const [state, said, meaning = '', noticed] = pillText(input, pill.dataset['log'])
    pill.dataset['state'] = state
    put(word, said)
    const counts = shown >= 0 ? ` This page counts up to event ${shown}.` : ''
    const newest = head === 0 ? '' : `The newest event is ${head}.${counts}`
    put(more, [meaning, newest].join(' ').trim() || more?.textContent)
    put(notice, meaning)
    // It lies over the page, so that nothing moves.
    if (noticed !== true) notice.remove()
    else if (!notice.isConnected) document.body.append(notice)
  }
}
