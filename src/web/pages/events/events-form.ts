import { EVENT_TYPES } from '../../../protocol/rules.ts'
import { type Html, html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'
import { typeNames } from './event-names.ts'

/** Parameters of the filters that are closed until a reader opens them. */
const FURTHER = ['kind', 'nonzero', 'tx', 'from', 'to'] as const

/** Form of the filters of events in one row; with `ranged` also of a range and a transaction. */
export function eventsForm({ path, query }: View, ranged: boolean): Html {
  const types = query.list('type')
  // A list of several types is one more option, so that the form keeps the query.
  const several = types !== undefined && types.length > 1 ? [types.join(',')] : []
  const isOpen = FURTHER.some((name) => query.has(name))
  const isFiltered = isOpen || query.has('type') || query.has('contestId')
  return html`<form class="controls filters" method="get" action="${path}" data-chrome>
    <label>Show ${typeChoice(['', ...several, ...EVENT_TYPES], types?.join(',') ?? '')}</label>
    <label
      >of contest
      <input
        name="contestId"
        size="6"
        inputmode="numeric"
        placeholder="any"
        value="${query.integers('contestId')?.join(',') ?? ''}"
    /></label>
    ${query.has('order') ? html`<input type="hidden" name="order" value="${query.word('order') ?? ''}" />` : null}
    <button>Show</button>
    ${isFiltered ? html`<a href="${path}">All events</a>` : null}
    <details ${isOpen ? html`open` : null}>
      <summary>More filters</summary>
      <div class="ask">
        <label
          >Kind
          <input name="kind" size="14" value="${query.list('kind')?.join(',') ?? ''}" autocapitalize="none"
        /></label>
        ${ranged ? rangeFields(query) : null}
        <label class="tick"
          ><span>With an amount</span
          ><input type="checkbox" name="nonzero" value="1" ${query.flag('nonzero') ? html`checked` : null}
        /></label>
      </div>
    </details>
  </form>`
}

function rangeFields(query: View['query']): Html {
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
    <label>To, UTC <input type="datetime-local" name="to" value="${fieldOf(query.time('to'))}" /></label>`
}

function typeChoice(values: readonly string[], chosen: string): Html {
  const named = (value: string): string => (value === '' ? 'All events' : typeNames(value.split(',')))
  return html`<select name="type">
    ${values.map(
      (value) =>
        html`<option value="${value}" ${value === chosen ? html`selected` : null}>${named(value)}</option>`,
    )}
  </select>`
}

/** Value of a `datetime-local` field, to the minute. */
function fieldOf(ms: number | undefined): string {
  return ms === undefined ? '' : new Date(ms).toISOString().slice(0, 16)
}
