import type { Schedule } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { contestTitleLink } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { nearMoment, untilMoment } from '../../markup/moment-html.ts'

/** List of the next `most` planned openings of contests. */
export function openingList(
  { answer: { opens }, address }: LinkedAnswer<Schedule>,
  most: number,
  view: View,
): Html {
  return html`<ol
    class="next"
    data-list="${address}#/opens"
    data-fields="title? contestId? at at"
    data-most="${most}"
  >
    ${opens.slice(0, most).map(
      ({ contestId, title, at }) =>
        html`<li>
          ${contestTitleLink(contestId, title)} <b>${untilPlanned(at, view)}</b>
          <small>${nearMoment(at, view)}</small>
        </li>`,
    )}
  </ol>`
}

/** `in 2 h`. A planned moment may have passed, because only an event opens or closes a contest: `due 5 min ago`. */
export function untilPlanned(at: string, view: View): Html {
  return html`${Date.parse(at) < view.now ? 'due ' : ''}${untilMoment(at, view)}`
}
