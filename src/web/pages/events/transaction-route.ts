import type { EventsPage } from '../../../protocol/resources.ts'
import type { Parsed, Problem } from '../../../protocol/problem.ts'
import { parsed } from '../../../protocol/problem.ts'
import type { AnswerRoute } from '../../../serve/http/route.ts'
import { errorPage } from '../../frame/error-page.ts'
import type { View } from '../../frame/page.ts'
import type { Web } from '../../frame/page-routes.ts'

/** `/tx/{id}`: leads from a transaction, as an explorer or a wallet names it, to what is published of it. */
export function transactionRoute(web: Web): AnswerRoute {
  return {
    path: '/tx/{id}',
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    async handle(ask) {
      const place = await findTransaction(ask.segments['id'] ?? '', (endpoint, asked = {}) =>
        web.api.ask(endpoint, ask, asked),
      )
      if (place.ok && place.value.href !== null) {
        return { is: 'elsewhere', status: 303, location: place.value.href }
      }
      const { site, identity, paths } = web
      const refused = { site, identity, paths, assets: await web.assets(), path: ask.path, api: null }
      if (!place.ok) return errorPage(place.problem, refused)
      return errorPage(notNamed(place.value.scannedTo), {
        ...refused,
        title: 'No event names this transaction',
      })
    },
  }
}

/** Where what names a transaction is shown, null where nothing does; and up to which event that is so. */
type TransactionPage = Readonly<{ href: string | null; scannedTo: number }>

/** The page of the one event that names a transaction, or the list of several. */
export async function findTransaction(tx: string, ask: View['ask']): Promise<Parsed<TransactionPage>> {
  const query = `tx=${encodeURIComponent(tx).replaceAll('%3A', ':')}`
  const asked = await ask('events', { query: `${query}&limit=2` })
  if (!asked.ok) return asked
  const { events, page }: EventsPage = JSON.parse(asked.value.json)
  const [only, ...others] = events
  if (only === undefined) return parsed({ href: null, scannedTo: page.scannedTo })
  const href = others.length === 0 ? `/events/${only.seq}` : `/events?${query}`
  return parsed({ href, scannedTo: page.scannedTo })
}

/** The head lets the page that says so lead on by itself once the event is published. */
function notNamed(head: number): Problem {
  return {
    code: 'not-found',
    detail: `Nothing that is published names it. ${NOT_FINAL}`,
    members: { head },
  }
}

/** Why a transaction that is known elsewhere may be found by nothing here. */
export const NOT_FINAL = 'A transaction that is not final yet is not published: its event follows when it is.'
