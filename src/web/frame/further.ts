import { assert } from '../../protocol/brand.ts'
import type { AnswerOf } from '../../protocol/endpoints/endpoint-rows.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import type { ApiDocument } from './api-document.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import type { ApiRequest, View } from './page.ts'

/** Answer of an endpoint as pages read it: the OpenAPI document has a type of its own here. */
type AnswerTo<Id extends EndpointId> = Id extends 'openapi' ? ApiDocument : AnswerOf<Id>

/** A further answer of the API, with the address at which everyone finds it. */
export type Further<Answer> = Readonly<{ address: string; answer: Answer }>

/** Asks the API something that it cannot refuse. */
export async function further<Id extends EndpointId>(
  view: Pick<View, 'ask'>,
  endpoint: Id,
  asked: ApiRequest = {},
): Promise<Further<AnswerTo<Id>>> {
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
