import type { Parameter } from '../../protocol/parameters.ts'
import { FILTERS } from '../../protocol/parameters.ts'
import type { EventWire } from '../../protocol/event.ts'
import type { EventsPage } from '../../protocol/resources.ts'
import type { Ask, Route } from '../route.ts'
import { problemReply } from '../route.ts'
import type { Api } from './answers.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Site } from './site.ts'
import { baseOf, hostOf, NOTICE } from './site.ts'

const ENTRIES = 50
/** What a reader of news is told when nothing is said: what moves a contest or a reward, and what is put right. */
const TYPES = 'contest,correction,loyalty'
/** RFC 4287 wants a moment even of a feed without entries. */
const NEVER = '1970-01-01T00:00:00.000Z'

const PARAMETERS: readonly Parameter[] = FILTERS.map((one) =>
  one.name === 'type' ? { ...one, absent: TYPES } : one,
)

/** `/feed.atom`: the newest events as an Atom feed (RFC 4287), newest first. */
export function feedRoute(api: Api, site: Site): Route {
  return {
    path: '/feed.atom',
    parameters: PARAMETERS,
    allowance: 'none',
    showsLog: true,
    async handle(ask) {
      const type = ask.query.has('type') ? '' : `type=${TYPES}&`
      const filters = ask.query.format().slice(1)
      const query = `${type}${filters === '' ? '' : `${filters}&`}order=desc&limit=${ENTRIES}`
      const asked = await api.ask('events', ask, { query })
      if (!asked.ok) return problemReply(asked.problem)
      const { events }: EventsPage = JSON.parse(asked.value.json)
      return {
        is: 'body',
        keep: 'revalidate',
        etag: 'of-content',
        type: 'application/atom+xml; charset=utf-8',
        body: feedOf(events, ask, site),
      }
    },
  }
}

function feedOf(events: readonly EventWire[], ask: Ask, site: Site): string {
  const base = baseOf(hostOf(ask))
  const query = ask.query.format()
  const subject = ask.query.list('type')?.join(', ') ?? 'contests, corrections and rewards'
  return html`<?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom">
      <title>${site.name}: ${subject}</title>
      <subtitle>${NOTICE}</subtitle>
      <id>${base}/feed.atom${query}</id>
      <link rel="self" type="application/atom+xml" href="${base}/feed.atom${query}" />
      <link rel="alternate" type="text/html" href="${base}/stream${query}" />
      <updated>${events[0]?.at ?? NEVER}</updated>
      <author><name>${site.name}</name></author>
      ${events.map((event) => entryOf(event, base, site))}
    </feed>`.markup
}

function entryOf(
  { seq, type, kind, at, contestId, kots, tx }: EventWire,
  base: string,
  { token }: Site,
): Html {
  const contest = contestId === null ? '' : ` of contest ${contestId}`
  const moved = kots === null ? '' : `: ${kots} ${token}`
  const paid = tx === null ? '' : ` Transaction ${tx}.`
  return html`
    <entry>
      <title>#${seq} ${type} / ${kind}${contest}${moved}</title>
      <id>${base}/events/${seq}</id>
      <link rel="alternate" type="text/html" href="${base}/events/${seq}" />
      <published>${at}</published>
      <updated>${at}</updated>
      <category term="${type}" />
      <summary>Event #${seq}, ${type} / ${kind}${contest}${moved}, published ${at}.${paid}</summary>
    </entry>
  `
}
