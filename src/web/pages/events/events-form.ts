import { EVENT_TYPES } from '../../../protocol/rules.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'

/** Form of the filters of events; with `ranged` also of a range, an order and a transaction. */
export function eventsForm({ path, query }: View, ranged: boolean): Html {
  const types = query.list('type')
  // A list of several types is one more option, so that the form keeps the query.
  const several = types !== undefined && types.length > 1 ? [types.join(',')] : []
  const nonzero = query.flag('nonzero') ? html`checked` : null
  const isOpen = ['nonzero', 'tx', 'from', 'to', 'order'].some((name) => query.has(name))
  return html`<form class="ask" method="get" action="${path}" data-chrome>
    <label
      >Type ${choice('type', ['', ...several, ...EVENT_TYPES], types?.join(',') ?? '', 'every type')}</label
    >
    <label
      >Kind <input name="kind" size="14" value="${query.list('kind')?.join(',') ?? ''}" autocapitalize="none"
    /></label>
    <label
      >Contest
      <input
        name="contestId"
        size="8"
        inputmode="numeric"
        value="${query.integers('contestId')?.join(',') ?? ''}"
    /></label>
    <button>Show</button>
    <a href="${path}">All events</a>
    <details class="further" ${isOpen ? html`open` : null}>
      <summary>More</summary>
      <div class="ask">
        <label class="tick"
          ><span>With an amount</span><input type="checkbox" name="nonzero" value="1" ${nonzero}
        /></label>
        ${ranged ? rangeFields(query) : null}
      </div>
    </details>
  </form>`
}

function rangeFields(query: View['query']): Html {
  const order = query.word('order') ?? ''
  return html`<label
      >Transaction
      <input
        name="tx"
        size="24"
        maxlength="128"
        value="${query.word('tx') ?? ''}"
        autocapitalize="none"
        spellcheck="false"
    /></label>
    <label
      >From, UTC <input type="datetime-local" name="from" value="${fieldOf(query.time('from'))}"
    /></label>
    <label>To, UTC <input type="datetime-local" name="to" value="${fieldOf(query.time('to'))}" /></label>
    <label>Order ${choice('order', ['', 'desc'], order, 'oldest first', { desc: 'newest first' })}</label>`
}

function choice(
  name: string,
  values: readonly string[],
  chosen: string,
  blank: string,
  labels: Readonly<Record<string, string>> = {},
): Html {
  return html`<select name="${name}">
    ${values.map(
      (value) =>
        html`<option value="${value}" ${value === chosen ? html`selected` : null}>
          ${value === '' ? blank : (labels[value] ?? value)}
        </option>`,
    )}
  </select>`
}

/** Value of a `datetime-local` field, to the minute. */
function fieldOf(ms: number | undefined): string {
  return ms === undefined ? '' : new Date(ms).toISOString().slice(0, 16)
}
