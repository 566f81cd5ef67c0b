import { boundOf, DAY_MS, floorTo, formatAt, HOUR_MS, type Ms, parseAt } from '../../../protocol/moment.ts'
import type { EventWire } from '../../../protocol/event.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { type Html, html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'
import { daysBefore, type EarlierAnswers } from './summary-figures.ts'

/** Longest history over which the slider moves by hours; beyond it, by days. */
const HOURLY_MS_MAX = 60 * DAY_MS

const STEPS: readonly (readonly [label: string, ms: number])[] = [
  ['−1 day', -DAY_MS],
  ['−1 hour', -HOUR_MS],
  ['+1 hour', HOUR_MS],
  ['+1 day', DAY_MS],
]

/**
 * Links and forms to the summary of another moment: steps, a date and time, and a slider for browsers with a script.
 * Only past views have later steps.
 */
export function timeTravel(
  { asOf }: Summary,
  first: EventWire | null,
  before: EarlierAnswers | null,
  view: View,
): Html | null {
  const launch = first === null ? undefined : parseAt(first.at)
  if (launch === undefined) return null
  const asked = view.query.time('at')
  const shown = asked ?? boundOf(asOf.atMs ?? launch)
  const steps = STEPS.flatMap(([label, ms]) => {
    const at = floorTo(boundOf(shown + ms), HOUR_MS)
    return at < launch || (ms > 0 && asked === undefined) ? [] : [{ label, at }]
  })
  return html`<div class="travel" data-chrome>
    <h2>Travel in time</h2>
    ${slider(launch, shown, asked === undefined, before === null ? null : preview(before, view))}
    <div class="ask">
      <nav aria-label="Other moments" class="steps">
        ${steps.map(({ label, at }) => html`<a class="button" href="${summaryAt(at)}">${label}</a>`)}
        ${asked === undefined ? null : html`<a class="button" href="/summary">Now</a>`}
      </nav>
      <form method="get" action="/summary">
        <label
          >The state at, UTC
          <input
            type="datetime-local"
            name="at"
            required
            min="${formatAt(launch).slice(0, 16)}"
            value="${formatAt(shown).slice(0, 16)}"
          /> </label
        ><button>Show</button>
      </form>
    </div>
    <p class="quiet">The history begins at ${momentText(first?.at ?? '')}.</p>
  </div>`
}

/** Slider over the history. Hidden until a script shows it, since only a script can label its moments. */
function slider(launch: Ms, shown: Ms, present: boolean, days: Html | null): Html | null {
  const step = shown - launch <= HOURLY_MS_MAX ? HOUR_MS : DAY_MS
  const from = boundOf(floorTo(launch, step) + step)
  const to = floorTo(shown, step)
  // Before the first full step after the launch there is no moment to choose.
  if (from > to) return null
  return html`<form method="get" action="/summary" data-slider="${present ? 'present' : 'past'}" hidden>
    <label for="moment"
      >Moment: <output for="moment">${present ? 'now' : momentText(formatAt(to))}</output>. Drag and release,
      or use the arrow keys and press Enter.</label
    >
    <input
      id="moment"
      type="range"
      name="at"
      min="${from}"
      max="${to}"
      step="${step}"
      value="${to}"
      autocomplete="off"
    />
    ${days}
  </form>`
}

/** Figures of each day for the slider's script, so that it requests nothing while it moves. */
function preview(before: EarlierAnswers, view: View): Html {
  const { fromMs, lines } = daysBefore(before)
  const label = `Last full day before this moment, in ${view.site.token} (balances: end of that day):`
  return html`<p
    class="quiet"
    data-from="${fromMs}"
    data-told="${label}"
    data-days="${JSON.stringify(lines)}"
  ></p>`
}

/** Path of the summary at a moment on the hour. */
function summaryAt(at: Ms): string {
  return `/summary?at=${formatAt(at).slice(0, 16)}Z`
}
