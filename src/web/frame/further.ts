import { assert } from '../../protocol/brand.ts'
import type { EventWire } from '../../protocol/event.ts'
import type {
  Contests,
  EventCorrections,
  EventDetails,
  EventsPage,
  EventTypes,
  Flows,
  Funds,
  LogKeys,
  Payouts,
  Schedule,
  Status,
  Summary,
} from '../../protocol/resources.ts'
import type { ApiDocument } from './api-document.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import type { ApiRequest, View } from './page.ts'

/** What the endpoints that pages ask further answer with. */
type Answers = Readonly<{
  summary: Summary
  contests: Contests
  schedule: Schedule
  payouts: Payouts
  flows: Flows
  funds: Funds
  events: EventsPage
  event: EventWire
  eventDetails: EventDetails
  eventCorrections: EventCorrections
  status: Status
  eventTypes: EventTypes
  logKeys: LogKeys
  openapi: ApiDocument
}>

/** A further answer of the API, with the address at which everyone finds it. */
export type Further<Answer> = Readonly<{ address: string; answer: Answer }>

/** Asks the API something that it cannot refuse. */
export async function further<Id extends keyof Answers>(
  view: Pick<View, 'ask'>,
  endpoint: Id,
  asked: ApiRequest = {},
): Promise<Further<Answers[Id]>> {
  const reply = await view.ask(endpoint, asked)
  assert(reply.ok, `a page asks ${endpoint} what it answers`)
  return { address: reply.value.address, answer: JSON.parse(reply.value.json) }
}

/** Under a block that further answers are shown in: where they are found as JSON, each by its name. */
export function jsonLine(named: readonly (readonly [name: string, from: Further<unknown>])[]): Html {
  return html`<p class="source">
    JSON of this:
    ${named.map(
      ([name, { address }], index) =>
        html`${index === 0 ? '' : ' · '}<a data-json href="${address}">${name}</a>`,
    )}
  </p>`
}
