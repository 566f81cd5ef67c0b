import { openDaybook } from '../client/daybook.ts'
import type { EventWire } from '../protocol/event.ts'
import type { ConformRun } from './part.ts'
import { assertSameEvents, assertSameLines, type EventWindow, lineOf } from './page-sentences.ts'
import type { Sender } from './sender.ts'
import { assertHolds, get, type WalkSentence } from './walk-part.ts'

/** Text of a position after which only new events come. */
const AT_HEAD = '"live":true'
/** Connections of a stream that breaks off. */
const CONNECTIONS = 3

/** Sentences about the stream, and about the client that follows it. */
export const STREAM_SENTENCES: readonly WalkSentence<EventWindow>[] = [
  {
    sentence: 'The stream gives the same events, and then says that it is live.',
    requests: 1,
    async check(run, { after, head, events }) {
      const target = `/api/v1/stream?after=${after}`
      const messages = await readMessages(run, target, {}, AT_HEAD)
      assertSameLines(upTo(head, messages), events.map(lineOf), `GET ${target}`)
    },
  },
  {
    sentence: 'A stream that breaks off goes on at Last-Event-ID, and loses and repeats nothing.',
    requests: CONNECTIONS,
    async check(run, { after, events }) {
      const target = `/api/v1/stream?after=${after}`
      const lines: string[] = []
      let last = after
      for (let part = 1; part <= CONNECTIONS; part++) {
        const cut = events[Math.floor((events.length * part) / CONNECTIONS) - 1]?.seq ?? last
        const headers = part === 1 ? {} : { 'Last-Event-ID': String(last) }
        const until = part === CONNECTIONS || cut === last ? AT_HEAD : `id: ${cut}\n`
        // A reader that broke off at the cut has not seen what had arrived after it.
        const own = upTo(cut, await readMessages(run, target, headers, until))
        lines.push(...own)
        last = Math.max(last, ...own.slice(-1).map(seqOf))
      }
      assertSameLines(lines, events.map(lineOf), `GET ${target}, three times with Last-Event-ID`)
    },
  },
  {
    sentence: 'As JSON lines the stream gives the same events.',
    requests: 1,
    async check(run, { after, head, events }) {
      const target = `/api/v1/stream?after=${after}`
      const headers = { Accept: 'application/x-ndjson' }
      const text = (await get(run, target, { headers, until: AT_HEAD })).body.toString()
      const lines = text.split('\n').filter((line) => line.startsWith('{"seq":'))
      assertSameLines(
        lines.filter((line) => seqOf(line) <= head),
        events.map(lineOf),
        `GET ${target}`,
      )
    },
  },
  {
    sentence: 'A filtered stream gives the events that it is asked for, and no other.',
    requests: 1,
    async check(run, { after, head, events }) {
      const type = events[Math.floor(events.length / 2)]?.type ?? 'play'
      const target = `/api/v1/stream?after=${after}&type=${type}`
      const messages = await readMessages(run, target, {}, AT_HEAD)
      const wanted = events.filter((event) => event.type === type)
      assertSameLines(upTo(head, messages), wanted.map(lineOf), `GET ${target}`)
    },
  },
  {
    sentence: 'The client follows the log, and streams it, with the same events.',
    requests: 4,
    async check({ sender }, { after, head, events }) {
      const { follow, stream } = openDaybook({ base: 'https://service.invalid', fetch: fetchBy(sender) })
      for (const [name, loop] of [
        ['follow', follow({ after })],
        ['stream', stream({ after })],
      ] as const) {
        const found: EventWire[] = []
        try {
          for await (const event of loop) {
            if (event.seq <= head) found.push(event)
            if (event.seq >= head) break
          }
        } catch (error) {
          const reason = error instanceof Error ? error.message : String(error)
          assertHolds(false, `the client's ${name} after event ${after}`, 'no error', reason)
        }
        assertSameEvents(found, events, `the client's ${name} after event ${after}`)
      }
    },
  },
]

/** A message of a stream. Its default type is empty. */
type StreamMessage = Readonly<{ event: string; id: string; text: string }>

/** The messages of a stream that are whole when the text arrives. */
async function readMessages(
  run: ConformRun,
  target: string,
  headers: Readonly<Record<string, string>>,
  until: string,
): Promise<readonly StreamMessage[]> {
  const text = (await get(run, target, { headers, until })).body.toString()
  const blocks = text.split(/\r?\n\r?\n/).slice(0, -1)
  return blocks.map((block) => {
    const fields = new Map(
      block.split(/\r?\n/).map((line): [string, string] => {
        const [, name = '', value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? []
        return [name, value]
      }),
    )
    return { event: fields.get('event') ?? '', id: fields.get('id') ?? '', text: fields.get('data') ?? '' }
  })
}

/** Lines of the events up to a seq. A message under another id than its seq is no line of the log. */
function upTo(head: number, messages: readonly StreamMessage[]): readonly string[] {
  return messages
    .filter(({ event, id, text }) => event === '' && text !== '' && Number(id) <= head)
    .map(({ id, text }) => (seqOf(text) === Number(id) ? text : `id: ${id} ${text}`))
}

const seqOf = (line: string): number => Number(/^\{"seq":(\d+)/.exec(line)?.[1])

/** `fetch` by the sender of a run. A stream ends when it is live. */
function fetchBy(sender: Sender): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const { pathname, search } = new URL(url)
    const headers = Object.fromEntries(new Headers(init.headers))
    const until = pathname.endsWith('/stream') ? AT_HEAD : null
    const answer = await sender.send({ method: 'GET', target: `${pathname}${search}`, headers, until })
    const isEmpty = [204, 304].includes(answer.code)
    const body = isEmpty ? null : new Uint8Array(answer.body)
    return new Response(body, { status: answer.code, headers: answer.headers })
  }
}
