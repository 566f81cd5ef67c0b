import type { Surroundings } from './surroundings.ts'

/** Keeps the requests of one client below the allowance of its address (spec, section 10). */
export type Pace = Readonly<{
  /** Settles when a request may be sent. `ask` sends a small one whose answer states the allowance. */
  turn: (path: string, ask: () => Promise<void>, signal?: AbortSignal) => Promise<void>
  /** Takes in what an answer says of the allowance, in the form of `RateLimit` and `RateLimit-Policy`. */
  heard: (path: string, headers: Headers) => void
}>

/** Tiles of the log have an allowance of their own; their answers never change and hence do not state it. */
const TILES = '/api/v1/log/tile/'
const TILE_REQUESTS = 600
const WINDOW_MS = 60_000
/** Requests sent without knowing an allowance before one is asked for: answers that never change state none. */
const BLIND_REQUESTS_MAX = 20
/** Of an allowance, what is spent without any wait. */
const FREE_PART = 0.5
/** The speed settles where a fifth of the allowance stays for others of the same address: 1 of 4 + 1. */
const SPENT_TO_LEFT = 4

type Scope = {
  /** Requests of a window; null as long as none was stated. */
  requests: number | null
  windowMs: number
  /** When our own requests of the last window were or will be sent, ascending. */
  readonly sent: number[]
  /** Requests that others of this address had in the window when it was last stated, and until when that holds. */
  others: number
  othersUntil: number
  /** Before this nothing is sent: the allowance was found empty. */
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

export function openPace({ now, sleep }: Pick<Surroundings, 'now' | 'sleep'>): Pace {
  const scopes = { api: scope(), tiles: scope() }
  let asked: Promise<void> | undefined
  const scopeOf = (path: string): Scope => (path.startsWith(TILES) ? scopes.tiles : scopes.api)

  function forget(it: Scope, at: number): void {
    while (it.sent[0] !== undefined && it.sent[0] <= at - it.windowMs) it.sent.shift()
  }

  /** When the next request of a scope may be sent; it is taken for sent. */
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
    async turn(path, ask, signal) {
      const it = scopeOf(path)
      const isBlind = it.sent.length >= BLIND_REQUESTS_MAX || asked !== undefined
      if (it.requests === null && isBlind) {
        await (asked ??= ask())
        // The service states none: nothing is counted either.
        if (scopeOf(path).requests === null) return
      }
      const waitMs = nextAt(it) - now()
      if (waitMs > 0) await sleep(waitMs, signal)
    },
    heard(path, headers) {
      const policy = POLICY.exec(headers.get('ratelimit-policy') ?? '')
      const left = LEFT.exec(headers.get('ratelimit') ?? '')
      if (policy === null || left === null) return
      const it = scopeOf(path)
      it.requests = Number(policy[1])
      it.windowMs = Number(policy[2]) * 1000
      // Whoever limits the one limits the other.
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
