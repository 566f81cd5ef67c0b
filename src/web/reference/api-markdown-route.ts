import type { AnswerRoute, RouteRequest, Reply } from '../../serve/http/route.ts'
import { askEndpoint } from '../frame/linked-answers.ts'
import type { Web } from '../frame/page-routes.ts'
import type { View } from '../frame/page.ts'
import { openExampleRequests } from './api-answers.ts'
import { formatReference } from './api-markdown.ts'

export const MARKDOWN_PATH = '/api.md'

const TYPE = 'text/markdown; charset=utf-8'

/** Route of `/api.md`, the reference as Markdown. */
export function apiMarkdownRoute(web: Web): AnswerRoute {
  return {
    path: MARKDOWN_PATH,
    parameters: [],
    allowance: 'pages',
    // Its example requests depend on the log.
    showsLog: true,
    handle: (ask) => replyOf(web, ask),
  }
}

async function replyOf({ api, site, identity }: Web, ask: RouteRequest): Promise<Reply> {
  const asking: Pick<View, 'ask'> = { ask: (endpoint, asked = {}) => api.ask(endpoint, ask, asked) }
  const { answer: document } = await askEndpoint(asking, 'openapi')
  const body = formatReference({
    document,
    site,
    simulated: identity.simulated,
    base: site.url,
    questionOf: await openExampleRequests(asking),
  })
  return { is: 'body', keep: 'revalidate', etag: 'of-content', type: TYPE, body }
}
