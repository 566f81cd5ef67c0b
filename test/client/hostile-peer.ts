import type { Random } from '../../sim/random.ts'

/** A service that at random drops, cuts, repeats, delays, lags, restarts, and answers errors. */
export type HostilePeer = Readonly<{
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** The log as an array of lines. */
  lines: readonly string[]
  /** Number of decisions so far. */
  steps(): number
  /** Count of each kind of fault. */
  deeds: ReadonlyMap<string, number>
  /** Stops all faults and all publishing. */
  reform(): void
}>

const LOG_ID = '0123456789abcdef0123456789abcdef'
const PAGE_EVENTS_MAX = 40
const encoder = new TextEncoder()

const lineOf = (seq: number, random: Random): string => {
  const atMs = 1_790_000_000_000 + seq * 1_000
  const kots = random.chance(0.3) ? '0.000000000' : `${random.below(1_000)}.${String(seq).padStart(9, '0')}`
  const type = random.pick(['play', 'payout', 'burn'])
  const at = new Date(atMs).toISOString()
  return JSON.stringify({ seq, type, kind: 'vote', at, atMs, contestId: 1 + (seq % 3), kots, tx: null })
}

/** Details of some events; null for the others. */
export const peerDetails = (seq: number): Readonly<{ count: number }> | null =>
  seq % 3 === 0 ? { count: seq } : null

const problem = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ code, detail: code }), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })

export function openHostilePeer(random: Random): HostilePeer {
  const lines: string[] = []
  const deeds = new Map<string, number>()
  let steps = 0
  let isHostile = true
  /** Whether a stream was ever opened; foreign answers before that mean a wrong address. */
  let isMet = false

  function does(deed: string, probability: number): boolean {
    if (!isHostile || !random.chance(probability)) return false
    deeds.set(deed, (deeds.get(deed) ?? 0) + 1)
    return true
  }

  /** One random step, in which the log may grow. */
  function step(): void {
    steps += 1
    if (!isHostile || !random.chance(0.5)) return
    const count = random.pick([1, 1, 2, 5, random.below(100)])
    for (let n = 0; n < count; n++) lines.push(lineOf(lines.length + 1, random))
  }

  /** Head of this node; another node behind the same address may lag. */
  const headOf = (): number =>
    does('lag', 0.05) ? Math.max(0, lines.length - random.below(60)) : lines.length

  function misanswer(signal: AbortSignal): Promise<Response> | undefined {
    if (does('refuse', 0.04)) throw new TypeError('fetch failed')
    if (does('limit', 0.03)) {
      return Promise.resolve(problem(429, 'rate-limited', { 'retry-after': String(random.below(5)) }))
    }
    if (does('restart', 0.03)) return Promise.resolve(problem(503, 'not-ready', { 'retry-after': '2' }))
    if (does('fail', 0.03)) return Promise.resolve(problem(500, 'internal-error'))
    if (isMet && does('portal', 0.02)) {
      return Promise.resolve(new Response('<html>Sign in', { status: random.pick([200, 404, 403, 502]) }))
    }
    if (does('hang', 0.02)) return hung(signal)
    return undefined
  }

  const answer = (body: string | ReadableStream, type: string): Response =>
    new Response(body, { headers: { 'content-type': type, 'daybook-log': LOG_ID } })

  function page(query: URLSearchParams, signal: AbortSignal): Response {
    const after = Number(query.get('after') ?? 0)
    const limit = Math.min(Number(query.get('limit') ?? 1_000), random.between(1, PAGE_EVENTS_MAX))
    const head = headOf()
    if (after > head) return problem(400, 'cursor-ahead')
    const last = Math.min(head, after + limit)
    query.set('after', String(last))
    const hasMore = last < head
    const next = hasMore ? `/api/v1/events?${query.toString()}` : null
    const events = lines.slice(after, last).join(',')
    const said = JSON.stringify({ after, limit, count: last - after, scannedTo: last, hasMore, next })
    const found = Array.from({ length: last - after }, (_, index) => after + index + 1).flatMap((seq) => {
      const own = peerDetails(seq)
      return own === null ? [] : [[seq, own] as const]
    })
    const details = query.has('details') ? `,"details":${JSON.stringify(Object.fromEntries(found))}` : ''
    const json = `{"events":[${events}]${details},"page":${said}}`
    if (does('garble a page', 0.02))
      return answer(json.slice(0, random.below(json.length)), 'application/json')
    if (does('cut a page', 0.02)) return answer(cutOff(json, random, signal), 'application/json')
    return answer(json, 'application/json')
  }

  /** Frames after a cursor, with random faults; null ends the connection. */
  function nextFrames(at: { cursor: number }, isDetailed: boolean): string | null {
    const position = (seq: number): string => {
      const head = Math.max(seq, lines.length)
      const said = { seq, head, live: seq === head, at: '2026-10-03T11:22:33.123Z', atMs: 1 }
      return `event: position\nid: ${seq}\ndata: ${JSON.stringify(said)}\n\n`
    }
    if (does('end', 0.03)) return null
    if (does('say garbage', 0.02)) return random.pick(['data: {"seq\n\n', 'data: null\n\n', 'data: {}\n\n'])
    if (does('say what nobody knows', 0.05)) {
      return random.pick([': comment\n\n', 'event: news\ndata: x\n\n', 'id\n\n', '\r\n', 'retry: 2500\n\n'])
    }
    if (does('repeat', 0.05)) at.cursor = Math.max(0, at.cursor - random.below(30))
    if (does('skip', 0.05)) at.cursor = Math.min(lines.length, at.cursor + random.below(30))
    if (at.cursor >= lines.length || random.chance(0.1)) return position(Math.min(at.cursor, lines.length))
    const until = Math.min(lines.length, at.cursor + random.between(1, 20))
    const frames = lines.slice(at.cursor, until).map((line, index) => {
      const isLost = does('lose a frame', 0.01)
      const seq = at.cursor + index + 1
      const details = isDetailed ? peerDetails(seq) : null
      const own = details === null ? '' : `event: details\ndata: ${JSON.stringify({ seq, details })}\n\n`
      return isLost ? '' : `${own}id: ${seq}\ndata: ${line}\n\n`
    })
    at.cursor = until
    return frames.join('')
  }

  function stream(query: URLSearchParams, signal: AbortSignal): Response {
    const after = Number(query.get('after'))
    if (after > headOf()) return problem(400, 'cursor-ahead')
    if (does('be full', 0.03)) return problem(429, 'too-many-streams')
    isMet = true
    const at = { cursor: after }
    let isFirst = true
    /** Unsent bytes; frames are cut into random pieces. */
    let held = new Uint8Array(0)
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          step()
          if (does('cut', 0.03)) throw new TypeError('terminated')
          if (does('fall silent', 0.01)) await hung(signal)
          if (held.length === 0) {
            // Silent until the next event.
            if (!isHostile && !isFirst && at.cursor === lines.length) await hung(signal)
            const frames = nextFrames(at, query.has('details'))
            if (frames === null) {
              controller.close()
              return
            }
            held = encoder.encode(isFirst ? `retry: 3000\n\n${frames}` : frames)
            isFirst = false
          }
          const size = random.chance(0.5) ? held.length : random.between(1, held.length)
          controller.enqueue(held.slice(0, size))
          held = held.slice(size)
        },
      },
      { highWaterMark: 0 },
    )
    return answer(body, 'text/event-stream; charset=utf-8')
  }

  return {
    lines,
    deeds,
    steps: () => steps,
    reform() {
      isHostile = false
    },
    async fetch(url, init) {
      step()
      const signal = init.signal ?? new AbortController().signal
      signal.throwIfAborted()
      const { pathname, searchParams } = new URL(url)
      const wrong = misanswer(signal)
      if (wrong !== undefined) return wrong
      if (pathname.endsWith('/stream')) return stream(searchParams, signal)
      if (pathname.endsWith('/events')) return page(searchParams, signal)
      return answer(JSON.stringify({ asOf: { seq: headOf() } }), 'application/json')
    },
  }
}

/** Never resolves; rejects when the client aborts. */
function hung(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** First part of a body, after which the connection breaks or stays silent. */
function cutOff(text: string, random: Random, signal: AbortSignal): ReadableStream {
  const part = encoder.encode(text.slice(0, random.below(text.length)))
  const isSilent = random.chance(0.3)
  let isSent = false
  return new ReadableStream({
    async pull(controller) {
      if (!isSent && part.length > 0) {
        isSent = true
        controller.enqueue(part)
        return
      }
      if (isSilent) await hung(signal)
      throw new TypeError('terminated')
    },
  })
}
