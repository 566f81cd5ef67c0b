import type { LogIdentity } from '../../log/store/reader.ts'
import { EXAMINED_MAX, type Parameter } from '../../protocol/parameters.ts'
import { FILTERS } from '../../protocol/endpoints/endpoint-parameters.ts'
import type { EventWire } from '../../protocol/event.ts'
import { type AnswerRoute, problemReply, type RouteRequest } from '../../serve/http/route.ts'
import type { Api } from '../frame/answers.ts'
import { contestName } from '../markup/contest-name.ts'
import { type Html, html, xmlOf } from '../markup/html.ts'
import { PAGE_NOTICE, type Site } from '../markup/site.ts'
import { shortAmount } from '../markup/amount-html.ts'
import { plainKind, whoWins } from '../markup/kind-words.ts'
import { plainText } from '../markup/page-lead.ts'
import { type RuleKind, ruleKind } from '../../protocol/rules.ts'

const ENTRIES = 50
/** Event types of a feed without `type`. */
const TYPES = 'contest,correction,loyalty'
/** Moment in the feed of an empty log, because RFC 4287 requires one. */
const NEVER = '1970-01-01T00:00:00.000Z'

const PARAMETERS: readonly Parameter[] = FILTERS.map((one) =>
  one.name === 'type' ? { ...one, absent: TYPES } : one,
)

/** `/feed.atom`: the newest events as an Atom feed (RFC 4287), newest first. */
export function feedRoute(api: Api, site: Site, identity: LogIdentity): AnswerRoute {
  return {
    path: '/feed.atom',
    parameters: PARAMETERS,
    allowance: 'pages',
    showsLog: true,
    async handle(ask) {
      const type = ask.query.has('type') ? '' : `type=${TYPES}&`
      const filters = ask.query.format().slice(1)
      const query = `${type}${filters === '' ? '' : `${filters}&`}order=desc&limit=${ENTRIES}`
      const asked = await api.ask('events', ask, { query })
      if (!asked.ok) return problemReply(asked.problem)
      const { events } = asked.value.answer
      const head = await api.ask('status', ask, {})
      if (!head.ok) return problemReply(head.problem)
      const { asOf } = head.value.answer
      return {
        is: 'body',
        keep: 'revalidate',
        etag: 'of-content',
        type: 'application/atom+xml; charset=utf-8',
        body: feedOf(events, asOf.at, ask, {
          site,
          tag: tagOf(identity),
          contestOf: await contestsOf(events, api, ask),
        }),
      }
    },
  }
}

/** Year of the tag URIs. A tag URI names the owner of the host in that year. */
const YEAR = 2026

/** Prefix of all ids in a log's feeds, a tag URI (RFC 4151). It does not depend on the host of the request. */
function tagOf({ origin, id }: LogIdentity): string {
  const [host = ''] = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/.exec(origin) ?? []
  return `tag:${host},${YEAR}:${origin.slice(host.length)}/${id}`
}

/** Settings that all entries of a feed share. */
type Feed = Readonly<{ site: Site; tag: string; contestOf: (id: number) => FeedContest }>

/** Contest of a feed's entry, as its title needs it. */
type FeedContest = Readonly<{ name: string; isCancelled: boolean }>

/** Contests of the events. */
async function contestsOf(
  events: readonly EventWire[],
  api: Api,
  ask: RouteRequest,
): Promise<Feed['contestOf']> {
  const contests = new Map<number, FeedContest>()
  for (const id of new Set(events.map(({ contestId }) => contestId))) {
    if (id === null) continue
    const asked = await api.ask('contest', ask, { segments: { id: String(id) } })
    if (!asked.ok) continue
    const { title, outcome } = asked.value.answer
    contests.set(id, { name: contestName(id, title), isCancelled: outcome === 'cancelled' })
  }
  return (id) => contests.get(id) ?? { name: contestName(id, null), isCancelled: false }
}

/** Atom document. `headAt`, the moment of the newest event, dates a feed without entries. */
function feedOf(events: readonly EventWire[], headAt: string | null, ask: RouteRequest, feed: Feed): string {
  const { site, tag } = feed
  const base = site.url
  const query = ask.query.format()
  const subject = ask.query.list('type')?.join(', ') ?? 'contests, corrections and rewards'
  const reach = ask.query.flag('nonzero') ? ` with an amount, among ${EXAMINED_MAX} of the filter` : ''
  return xmlOf(
    html`<?xml version="1.0" encoding="utf-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom">
        <title>${site.name}: ${subject}</title>
        <subtitle>The newest ${ENTRIES} events${reach}. ${PAGE_NOTICE}</subtitle>
        <id>${tag}/feed.atom${query}</id>
        <link rel="self" type="application/atom+xml" href="${base}/feed.atom${query}" />
        <link rel="alternate" type="text/html" href="${base}/stream${query}" />
        <updated>${events[0]?.at ?? headAt ?? NEVER}</updated>
        <author><name>${site.name}</name></author>
        ${site.licence === null ? null : html`<rights>${site.licence}</rights>`}
        ${events.map((event) => entryOf(event, base, feed))}
      </feed>`,
  )
}

function entryOf(event: EventWire, base: string, { site, tag, contestOf }: Feed): Html {
  const { seq, type, at, kots, tx } = event
  const moved = kots === null ? '' : ` Exact amount: ${kots} ${site.token}.`
  const paid = tx === null ? '' : ` Transaction ${tx}.`
  return html`
    <entry>
      <title>${entryTitle(event, contestOf, site)}</title>
      <id>${tag}/events/${seq}</id>
      <link rel="alternate" type="text/html" href="${base}/events/${seq}" />
      <published>${at}</published>
      <updated>${at}</updated>
      <category term="${type}" />
      <summary>Event #${seq}, published ${at}.${moved}${paid}</summary>
    </entry>
  `
}

/** Predicates of events about a contest or a reward, by type and kind. */
const HAPPENED: { readonly [Type in 'contest' | 'loyalty']: Readonly<Record<RuleKind<Type>, string>> } = {
  contest: {
    scheduled: 'was planned',
    rescheduled: 'was rescheduled',
    renamed: 'was renamed',
    opened: 'opened',
    closed: 'closed',
    cancelled: 'was cancelled',
    paid: 'is settled',
  },
  loyalty: {
    scheduled: 'was planned',
    accrual: 'was set aside',
    input: 'has its input fixed',
    output: 'was computed',
  },
}

/**
 * Title of a feed entry, such as "First (contest 1) closed". Its amount is cut as on pages. The end of a cancelled
 * contest says so, because players congratulate each other on a settled one.
 */
export function entryTitle(
  { type, kind, contestId, kots }: EventWire,
  contestOf: Feed['contestOf'],
  { token }: Site,
): string {
  const happened = type === 'contest' || type === 'loyalty' ? happenedOf(type, kind) : undefined
  const amount = kots === null ? null : `${shortAmount(kots)} ${token}`
  if (amount !== null && type === 'loyalty' && kind === 'accrual')
    return `${amount} added to the loyalty fund`
  const moved = amount === null ? '' : `, ${amount}`
  const { name: contest, isCancelled } = contestId === null ? NO_CONTEST : contestOf(contestId)
  if (happened !== undefined) {
    const why = isCancelled && kind === 'paid' ? ': it was cancelled' : ''
    return `${contest ?? 'The loyalty reward'} ${happened}${why}${moved}`
  }
  const what = type === 'correction' ? `Correction of a ${kind}` : titleOf(type, kind)
  return `${what}${moved}${contest === null ? '' : `: ${contest}`}`
}

const NO_CONTEST = { name: null, isCancelled: false }

/** Type and kind in words: `Payout to voters`. */
function titleOf(type: EventWire['type'], kind: string): string {
  if (type === 'payout') return plainText(html`Payout to ${whoWins(kind)}`)
  if (type === 'prize') return plainText(html`Prize of ${whoWins(kind)}`)
  return plainText(html`${type}, ${plainKind(kind)}`)
}

function happenedOf(type: keyof typeof HAPPENED, kind: string): string | undefined {
  const named = ruleKind(type, kind)
  const kinds: Readonly<Partial<Record<string, string>>> = HAPPENED[type]
  return named === undefined ? undefined : kinds[named]
}
