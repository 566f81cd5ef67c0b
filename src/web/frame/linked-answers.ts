import type { Answers } from '../../protocol/endpoints/endpoints.ts'
import { assert } from '../../protocol/brand.ts'
import type { EndpointId } from '../../protocol/paths.ts'
import { type Html, html, type Part } from '../markup/html.ts'
import type { ApiRequest, LinkedAnswer, View } from './page.ts'

/** Asks an endpoint. Throws if it refuses, so the request must be valid. */
export async function askEndpoint<Id extends EndpointId>(
  view: Pick<View, 'ask'>,
  endpoint: Id,
  asked: ApiRequest = {},
): Promise<LinkedAnswer<Answers[Id]>> {
  const reply = await view.ask(endpoint, asked)
  assert(reply.ok, `a page asks ${endpoint} what it answers`)
  return reply.value
}

/** The first event of the log; null if there is none. */
export async function firstEvent({ ask }: Pick<View, 'ask'>): Promise<LinkedAnswer<Answers['event']> | null> {
  const reply = await ask('event', { segments: { seq: '1' } })
  return reply.ok ? reply.value : null
}

const OPENED = '<p data-answers>'
const CLOSED = '</p>'

/** Links to the JSON of further answers, each by its name. The frame moves them to the page's drawer. */
export function jsonLinks(named: readonly (readonly [name: Part, from: LinkedAnswer<unknown>])[]): Html {
  const links = named.map(
    ([name, { address }], index) =>
      html`${index === 0 ? '' : ' · '}<a data-json href="${address}">${name}</a>`,
  )
  return { markup: `${OPENED}${html`${links}`.markup}${CLOSED}` }
}

/** Content of a page without its `jsonLinks`, and these links; null if it has none. */
export function takeJsonLinks({ markup }: Html): Readonly<{ content: Html; links: Html | null }> {
  const [first = '', ...others] = markup.split(OPENED)
  const parts = others.map((part): readonly [links: string, after: string] => {
    const end = part.indexOf(CLOSED)
    return [part.slice(0, end), part.slice(end + CLOSED.length)]
  })
  return {
    content: { markup: `${first}${parts.map(([, after]) => after).join('')}` },
    links: parts.length === 0 ? null : { markup: parts.map(([links]) => links).join(' · ') },
  }
}
