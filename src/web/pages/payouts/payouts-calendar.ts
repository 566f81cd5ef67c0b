import type { Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import { setImmediate } from 'node:timers/promises'
import { add, formatAmount, parseAmount, ZERO } from '../../../protocol/amount.ts'
import { isolateDirection } from '../../../protocol/foreign-text.ts'
import { type Ms, msOf } from '../../../protocol/moment.ts'
import { type Parsed, parsed } from '../../../protocol/problem.ts'
import { type AnswerRoute, problemReply, type RouteRequest } from '../../../serve/http/route.ts'
import type { Api } from '../../frame/answers.ts'
import type { Html } from '../../markup/html.ts'
import { kindName, plainKind, waitsForDate } from '../../markup/kind-words.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { View } from '../../frame/page.ts'
import type { Site } from '../../markup/site.ts'
import { CALENDAR_TYPE, type CalendarMoment, openCalendar, soonestOf } from '../../../serve/api/calendar.ts'
import { calendarLinks } from '../../frame/view-bar.ts'

/** Maximum rows of unpaid prizes that a calendar reads. The calendar mentions that there are more. */
export const CALENDAR_ROWS_MAX = 10_000
/** Rows in one request to the API. Other callers get their turn between two requests. */
const ROWS_LIMIT = 1_000

/** `/payouts.ics`: times at which locked and reviewed prizes become available, of all contests and kinds or of some. */
export function payoutsCalendarRoute(api: Api, site: Site, origin: string): AnswerRoute {
  const format = openCalendar()
  return {
    path: '/payouts.ics',
    parameters: api.route('payouts').parameters.filter(({ name }) => name === 'contestId' || name === 'kind'),
    allowance: 'api',
    showsLog: true,
    async handle(ask) {
      const unpaid = await waitingPrizes(api, ask)
      if (!unpaid.ok) return problemReply(unpaid.problem)
      const contests = await api.ask('contests', ask, {
        query: `status=running,paying&limit=${ROWS_LIMIT}`,
      })
      if (!contests.ok) return problemReply(contests.problem)
      const titles = new Map(contests.value.answer.contests.map(({ id, title }) => [id, title]))
      const { rows, head, whole } = unpaid.value
      const ids = ask.query.integers('contestId') ?? []
      const kinds = ask.query.list('kind') ?? []
      const ofKinds =
        kinds.length === 0 ? '' : ` (${kinds.map((kind) => plainText(plainKind(kind))).join(', ')})`
      const ofContests = ids.length === 0 ? '' : ` of contest${ids.length === 1 ? '' : 's'} ${ids.join(', ')}`
      const { kept, note } = soonestOf(entriesOf(rows, titles, { token: site.token, base: site.url }))
      const changes = await newestChanges(api, ask, new Set(kept.map(({ contestId }) => contestId)), head)
      if (!changes.ok) return problemReply(changes.problem)
      const body = format({
        name: `${site.name}: when prizes${ofKinds}${ofContests} can be paid`,
        description: `When unpaid prizes can be paid, as of now. ${whole ? '' : `It covers only the first ${CALENDAR_ROWS_MAX} rows of /payouts: there are more. `}Informational only.${note}`,
        product: 'Unpaid prizes',
        origin,
        // A date is part of an entry's id, so no entry moves.
        moments: kept.map(({ contestId, ...entry }) => ({
          ...entry,
          sequence: 0,
          changedMs: changes.value.get(contestId) ?? msOf(0),
        })),
      })
      return { is: 'body', keep: 'revalidate', etag: 'of-content', type: CALENDAR_TYPE, body }
    },
  }
}

/** Links to the calendar of the contests and kinds of a page of unpaid prizes. */
export function payoutsSubscription(view: View): Html {
  return calendarLinks(`/payouts.ics${view.query.format({ after: undefined, limit: undefined })}`, view)
}

type WaitingPrizes = Readonly<{ rows: readonly Unpaid[]; head: number; whole: boolean }>

/** Reads the prizes that wait for a date, page by page. */
async function waitingPrizes(api: Api, ask: RouteRequest): Promise<Parsed<WaitingPrizes>> {
  const rows: Unpaid[] = []
  const filter = ask.query.format().slice(1)
  let query = `${filter === '' ? '' : `${filter}&`}limit=${ROWS_LIMIT}`
  for (let read = ROWS_LIMIT; ; read += ROWS_LIMIT) {
    const asked = await api.ask('payouts', ask, { query })
    if (!asked.ok) return asked
    const { asOf, unpaid, next } = asked.value.answer
    rows.push(...unpaid.filter(waitsForDate))
    const whole = next === null
    if (whole || read >= CALENDAR_ROWS_MAX) return parsed({ rows, head: asOf.seq, whole })
    query = next.slice(next.indexOf('?') + 1)
    await setImmediate()
  }
}

/** Events that change the prizes of a contest, or its title. */
const CHANGING = 'contest,prize,hold,payout,expiry,correction'

/** Moment of the newest event up to `head` that changed the prizes or the title of each contest. */
async function newestChanges(
  api: Api,
  ask: RouteRequest,
  contestIds: ReadonlySet<number>,
  head: number,
): Promise<Parsed<ReadonlyMap<number, Ms>>> {
  const changes = new Map<number, Ms>()
  for (const id of contestIds) {
    const query = `type=${CHANGING}&contestId=${id}&order=desc&before=${head + 1}&limit=1`
    const asked = await api.ask('events', ask, { query })
    if (!asked.ok) return asked
    for (const { atMs } of asked.value.answer.events) changes.set(id, msOf(atMs))
    await setImmediate()
  }
  return parsed(changes)
}

/** An entry before its newest change is read. */
type PrizeEntry = Omit<CalendarMoment, 'sequence' | 'changedMs'> & Readonly<{ contestId: number }>

/** Calendar entries for each contest, kind and moment, the soonest first. Parts of a prize may have their own terms. */
function entriesOf(
  rows: readonly Unpaid[],
  titles: ReadonlyMap<number, string | null>,
  { token, base }: Readonly<{ token: string; base: string }>,
): readonly PrizeEntry[] {
  const inOrder = rows.toSorted((a, b) => a.availableAtMs - b.availableAtMs)
  const groups = Map.groupBy(inOrder, ({ contestId, kind, availableAt }) =>
    // A payment or a new title does not change the id of an entry.
    [`contest-${contestId}`, kind, availableAt].join('-'),
  )
  return [...groups].flatMap(([id, parts]) => {
    const [first] = parts
    if (first === undefined) return []
    const { contestId, kind, availableAtMs } = first
    const total = parts.reduce((sum, { kots }) => add(sum, parseAmount(kots) ?? ZERO), ZERO)
    const title = titles.get(contestId) ?? null
    const contest =
      title === null ? `contest ${contestId}` : `contest ${contestId} (${isolateDirection(title)})`
    return [
      {
        id,
        contestId,
        atMs: availableAtMs,
        summary: `${plainText(kindName(kind))}: ${contest} can be paid`,
        description: `${formatAmount(total)} ${token}, locked or in review until then. Informational only.`,
        url: `${base}/contests/${contestId}/ledger`,
      },
    ]
  })
}
