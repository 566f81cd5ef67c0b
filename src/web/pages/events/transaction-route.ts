import { type Parsed, parsed, type Problem } from '../../../protocol/problem.ts'
import type { AnswerRoute } from '../../../serve/http/route.ts'
import { errorPage } from '../../frame/error-page.ts'
import type { View } from '../../frame/page.ts'
import type { Web } from '../../frame/page-routes.ts'

/** `/tx/{id}`: redirects a transaction to the event or events that name it. */
export function transactionRoute(web: Web): AnswerRoute {
  return {
    path: '/tx/{id}',
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    async handle(ask) {
      const found = await findTransaction(ask.segments['id'] ?? '', (endpoint, asked = {}) =>
        web.api.ask(endpoint, ask, asked),
      )
      if (found.ok && found.value.href !== null) {
        return { is: 'redirect', status: 303, location: found.value.href }
      }
      const { site, identity } = web
      const { path, now } = ask
      const refused = { site, identity, isPage: false, assets: await web.assets(), path, api: null, now }
      if (!found.ok) return errorPage(found.problem, refused)
      return errorPage(notNamed(found.value.scannedTo), {
        ...refused,
        title: 'No event names this transaction',
      })
    },
  }
}

/** Path of the page about a transaction (null if no event names it), and the last searched event. */
type TransactionPage = Readonly<{ href: string | null; scannedTo: number }>

/** Finds the page of the only event that names a transaction, or the list of several. */
export async function findTransaction(tx: string, ask: View['ask']): Promise<Parsed<TransactionPage>> {
  const query = `tx=${encodeURIComponent(tx).replaceAll('%3A', ':')}`
  const asked = await ask('events', { query: `${query}&limit=2` })
  if (!asked.ok) return asked
  const { events, page } = asked.value.answer
  const [only, ...others] = events
  if (only === undefined) return parsed({ href: null, scannedTo: page.scannedTo })
  const href = others.length === 0 ? `/events/${only.seq}` : `/events?${query}`
  return parsed({ href, scannedTo: page.scannedTo })
}

/** Problem with the head, so that the error page reloads by itself once the event is published. */
function notNamed(head: number): Problem {
  return {
    code: 'not-found',
    detail: `No published event names it. ${NOT_FINAL}`,
    members: { head },
  }
}

/** Explanation why a transaction may not be found. */
export const NOT_FINAL =
  'The operator publishes a payment when its transaction is final, so a new one may follow later.'
