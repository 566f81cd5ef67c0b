import { setImmediate } from 'node:timers/promises'
import { add, formatAmount, parseAmount, ZERO } from '../../../protocol/amount.ts'
import { isolated } from '../../../protocol/direction.ts'
import type { Parsed } from '../../../protocol/problem.ts'
import { parsed } from '../../../protocol/problem.ts'
import type { Contests, Payouts, Unpaid } from '../../../protocol/resources.ts'
import type { CalendarMoment } from '../../../serve/api/icalendar.ts'
import { CALENDAR_TYPE, openCalendar } from '../../../serve/api/icalendar.ts'
import type { AnswerRoute, RouteRequest } from '../../../serve/http/route.ts'
import { problemReply } from '../../../serve/http/route.ts'
import type { Api } from '../../frame/answers.ts'
import { calendarLinks } from '../../frame/calendar-links.ts'
import type { Html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'
import type { Site } from '../../markup/site.ts'

/** Rows of unpaid prizes that are read for a calendar; it says so where there are more. */
export const CALENDAR_ROWS_MAX = 10_000
/** Rows that are asked for at once: between two such answers others have theirs. */
const ROWS_ASKED = 1_000

/**
 * `/payouts.ics`: the moments at which prizes that are won and not yet paid become available, of all contests or of one.
 * It is made of the answers that the page is made of; what is available already stands there and not here.
 */
export function payoutsCalendarRoute(api: Api, site: Site, origin: string): AnswerRoute {
  const format = openCalendar()
  return {
    path: '/payouts.ics',
    parameters: api.route('payouts').parameters.filter(({ name }) => name === 'contestId'),
    allowance: 'api',
    showsLog: true,
    async handle(ask) {
      const unpaid = await unpaidOf(api, ask)
      if (!unpaid.ok) return problemReply(unpaid.problem)
      const contests = await api.ask('contests', ask, { query: `status=paying&limit=${ROWS_ASKED}` })
      if (!contests.ok) return problemReply(contests.problem)
      const paying: Contests = JSON.parse(contests.value.json)
      const titles = new Map(paying.contests.map(({ id, title }) => [id, title]))
      const { rows, asOfMs, whole } = unpaid.value
      const id = ask.query.integer('contestId')
      const body = format({
        name:
          id === undefined ? 'Prizes that become available' : `Prizes of contest ${id} that become available`,
        description: `When prizes that are won and not yet paid become available, as it stands now. ${whole ? '' : `Only the first ${CALENDAR_ROWS_MAX} rows of /payouts are looked at: there are more. `}Informational only.`,
        product: 'Unpaid prizes',
        origin,
        asOfMs,
        moments: momentsOf(rows, titles, { token: site.token, base: site.url }),
      })
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: CALENDAR_TYPE, body }
    },
  }
}

/** The calendar of a page's prizes, to be subscribed to: of a contest, or of all where none is named. */
export function payoutsSubscription(contestId: number | undefined, view: View): Html {
  return calendarLinks(`/payouts.ics${contestId === undefined ? '' : `?contestId=${contestId}`}`, view)
}

/** Whether a prize waits for its date. */
function isWaiting({ status }: Unpaid): boolean {
  return status === 'locked' || status === 'in_review'
}

type Read = Readonly<{ rows: readonly Unpaid[]; asOfMs: number | null; whole: boolean }>

/** The prizes that wait for a date among the first rows, page after page. */
async function unpaidOf(api: Api, ask: RouteRequest): Promise<Parsed<Read>> {
  const rows: Unpaid[] = []
  const filter = ask.query.format().slice(1)
  let query = `${filter === '' ? '' : `${filter}&`}limit=${ROWS_ASKED}`
  for (let read = ROWS_ASKED; ; read += ROWS_ASKED) {
    const asked = await api.ask('payouts', ask, { query })
    if (!asked.ok) return asked
    const { asOf, unpaid, next }: Payouts = JSON.parse(asked.value.json)
    rows.push(...unpaid.filter(isWaiting))
    const whole = next === null
    if (whole || read >= CALENDAR_ROWS_MAX) return parsed({ rows, asOfMs: asOf.atMs, whole })
    query = next.slice(next.indexOf('?') + 1)
    await setImmediate()
  }
}

/** One for each contest, kind and moment, the soonest first: parts of a prize may have terms of their own. */
function momentsOf(
  rows: readonly Unpaid[],
  titles: ReadonlyMap<number, string | null>,
  { token, base }: Readonly<{ token: string; base: string }>,
): readonly CalendarMoment[] {
  const inOrder = rows.toSorted((a, b) => a.availableAtMs - b.availableAtMs)
  const groups = Map.groupBy(inOrder, ({ contestId, kind, availableAt }) =>
    // The identifier of an entry: an amount that is paid in part, or another title, changes nothing of it.
    [`contest-${contestId}`, kind, availableAt].join('-'),
  )
  return [...groups].flatMap(([id, parts]) => {
    const [first] = parts
    if (first === undefined) return []
    const { contestId, kind, availableAtMs } = first
    const total = parts.reduce((sum, { kots }) => add(sum, parseAmount(kots) ?? ZERO), ZERO)
    const title = titles.get(contestId) ?? null
    const contest = title === null ? `contest ${contestId}` : `contest ${contestId} (${isolated(title)})`
    return [
      {
        id,
        atMs: availableAtMs,
        summary: `${kind} of ${contest} becomes available`,
        description: `${formatAmount(total)} ${token}, locked or in review until then. Informational only.`,
        url: `${base}/contests/${contestId}/ledger`,
      },
    ]
  })
}
