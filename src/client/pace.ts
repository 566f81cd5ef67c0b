import type { Surroundings } from './surroundings.ts'

/** Keeps one client's requests below the rate limit of its address (PROTOCOL.md, section 12). */
type Pace = Readonly<{
  /** Settles when a request may be sent. `probe` sends a small request whose answer states the rate limit. */
  wait: (path: string, probe: () => Promise<void>, signal?: AbortSignal) => Promise<void>
  /** Reads the rate limit from the headers `RateLimit` and `RateLimit-Policy` of an answer. */
  update: (path: string, headers: Headers) => void
}>

/** Path of tiles, which have their own rate limit. Tile answers never change, so they cannot state it. */
const TILES = '/api/v1/log/tile/'
const TILE_REQUESTS = 600
const WINDOW_MS = 60_000
/** Requests sent without a known rate limit before a probe is sent. Immutable answers state no limit. */
const BLIND_REQUESTS_MAX = 20
/** Share of the limit that is used without waiting. */
const FREE_PART = 0.5
/**
 * Used requests for each free one in a steady state. A fifth of the limit stays free for others at the same address.
 */
const SPENT_TO_LEFT = 4

type Scope = {
  /** Requests per window; null while unknown. */
  requests: number | null
  windowMs: number
  /** Send times of our own requests in the last window, past and planned, ascending. */
  readonly sent: number[]
  /** Requests by others at this address in the window of the last answer, and when they stop counting. */
  others: number
  othersUntil: number
  /** Time before which no request is sent, because the limit is used up. */
  emptyUntil: number
}

const scope = (): Scope => ({
  requests: null,
  windowMs: WINDOW_MS,
  sent: [],
  others: 0,
  othersUntil: 0,
  emptyUntil: 0,
})

const POLICY = /;q=(\d{1,9});w=(\d{1,6})/
const LEFT = /;r=(\d{1,9});t=(\d{1,6})/

/** Rate limit of an address as an answer states it; null when it states none. */
export type RateLimit = Readonly<{ requests: number; windowMs: number }>

export function rateLimitIn(headers: Headers): RateLimit | null {
  const found = POLICY.exec(headers.get('ratelimit-policy') ?? '')
  return found === null ? null : { requests: Number(found[1]), windowMs: Number(found[2]) * 1000 }
}

/** Time that requests take below a rate limit which nobody else uses, without their own time. */
export function pacedMs(count: number, { requests, windowMs }: RateLimit): number {
  const waiting = Math.max(0, count - requests * (1 - FREE_PART))
  return (waiting * windowMs * (SPENT_TO_LEFT + 1)) / (requests * SPENT_TO_LEFT)
}

/** Opens the request pacing of one client. */
export function openPace({ now, sleep }: Pick<Surroundings, 'now' | 'sleep'>): Pace {
  const scopes = { api: scope(), tiles: scope() }
  let probed: Promise<void> | undefined
  const scopeOf = (path: string): Scope => (path.startsWith(TILES) ? scopes.tiles : scopes.api)

  function forget(it: Scope, at: number): void {
    while (it.sent[0] !== undefined && it.sent[0] <= at - it.windowMs) it.sent.shift()
  }

  /** Plans the next request of a scope and returns its send time. */
  function nextAt(it: Scope): number {
    let at = Math.max(now(), it.sent.at(-1) ?? 0, it.emptyUntil)
    forget(it, at)
    const { requests, windowMs, sent } = it
    if (requests !== null) {
      const left = requests - sent.length - (at < it.othersUntil ? it.others : 0)
      if (left < 1) at = Math.max(at, (sent[0] ?? at) + windowMs)
      else if (left <= requests * FREE_PART) at += windowMs / (SPENT_TO_LEFT * left)
    }
    sent.push(at)
    return at
  }

  return {
    async wait(path, probe, signal) {
      const it = scopeOf(path)
      const isBlind = it.sent.length >= BLIND_REQUESTS_MAX || probed !== undefined
      if (it.requests === null && isBlind) {
        await (probed ??= probe())
        // The service states no limit.
        if (scopeOf(path).requests === null) return
      }
      const waitMs = nextAt(it) - now()
      if (waitMs > 0) await sleep(waitMs, signal)
    },
    update(path, headers) {
      const policy = rateLimitIn(headers)
      const left = LEFT.exec(headers.get('ratelimit') ?? '')
      if (policy === null || left === null) return
      const it = scopeOf(path)
      it.requests = policy.requests
      it.windowMs = policy.windowMs
      // A service that limits the API limits tiles too.
      if (it === scopes.api) scopes.tiles.requests ??= TILE_REQUESTS
      const at = now()
      forget(it, at)
      const own = it.sent.filter((one) => one <= at).length
      it.others = Math.max(0, it.requests - Number(left[1]) - own)
      it.othersUntil = at + it.windowMs
      if (left[1] === '0') it.emptyUntil = at + Number(left[2]) * 1000
    },
  }
}
