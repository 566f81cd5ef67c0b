import { once } from 'node:events'
import { createClient, defineScript } from '@redis/client'
import { z } from 'zod'
import { SECOND_MS } from '../../protocol/moment.ts'
import type { Allowance, Decision, Policy } from './allowance.ts'

/** Signal of a store to its owner, for metrics and reports. */
export type StoreSignal =
  | Readonly<{ is: 'lost'; cause: unknown }>
  | Readonly<{ is: 'regained' }>
  /** A decision by the node's own allowance, because the store could not be asked. */
  | Readonly<{ is: 'own-decision' }>

type StoreSettings = Readonly<{
  /** `redis://[user:password@]host[:port][/database]`, or `rediss:` for TLS; any server of that protocol. */
  url: string
  /** Prefix of every key; deployments that share a server need different ones. */
  prefix?: string
  /** Milliseconds that a request waits for the store before the node decides by itself. */
  timeoutMs?: number
  report: (signal: StoreSignal) => void
}>

/** Decides as `Allowance.decide`, for all machines together. */
type SharedDecide = (key: string, nowMs: number, units?: number) => Promise<Decision>

/** Allowances that several machines share. */
export type AllowanceStore = AsyncDisposable &
  Readonly<{
    /** The shared allowance under the policy of `own`, which decides while the store is lost. */
    share: (own: Allowance) => SharedDecide
  }>

/** Milliseconds after a failure in which the store is not asked, so that no request waits for it. */
const RETRY_MS = 1000

/** Milliseconds that a start waits for the store at most. */
const START_MS = 2000

const RECONNECT_MS = 500
const TIMEOUT_MS = 250

/** Commands that may wait for one connection; above this the node decides by itself. */
const QUEUE_MAX = 10_000

// Moments of accepted requests, oldest first, by the clock of the store. If that clock has gone back, the age of a
// moment in the future is unknown. It counts as now, so that no caller gains requests and none waits longer than a window.
// A node with a higher limit may have accepted more than `requests`: then several must leave before the next is accepted.
const SCRIPT = `
local requests, window, units = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local text = string.format('%.0f', now)
local function moment(index) return tonumber(redis.call('LINDEX', KEYS[1], index)) end
local changed = false
for index = redis.call('LLEN', KEYS[1]) - 1, 0, -1 do
  if moment(index) <= now then break end
  redis.call('LSET', KEYS[1], index, text)
  changed = true
end
local oldest = moment(0)
while oldest and now - oldest >= window do
  redis.call('LPOP', KEYS[1])
  oldest = moment(0)
end
local used = redis.call('LLEN', KEYS[1])
local allowed = used < requests
for _ = 1, math.min(units, requests - used) do
  redis.call('RPUSH', KEYS[1], text)
  used = used + 1
  changed = true
end
if changed then redis.call('PEXPIRE', KEYS[1], window) end
local freeing = moment(math.max(0, used - requests)) or now
return { allowed and 1 or 0, used, freeing + window - now }
`

const REPLY = z.tuple([z.int(), z.int(), z.int()])

const decideScript = defineScript({
  SCRIPT,
  NUMBER_OF_KEYS: 1,
  parseCommand(parser, key: string, { requests, windowMs }: Policy, units: number) {
    parser.pushKey(key)
    parser.push(String(requests), String(windowMs), String(units))
  },
  transformReply: (reply: unknown): unknown => reply,
})

/** Connects to a store, and reconnects while it is open; throws if the URL is invalid. */
export async function openAllowanceStore(settings: StoreSettings): Promise<AllowanceStore> {
  const { url, prefix = 'daybook', timeoutMs = TIMEOUT_MS, report } = settings
  let client = connect(url)
  let reachable = true
  let retryAtMs = 0
  let ownUntilMs = 0

  /** Replaces a connection without answers, because the system may notice a lost peer much later. */
  function reconnect(silent: typeof client): void {
    // Many requests may wait for one connection: the first that gives up replaces it for all.
    if (client !== silent || !silent.isOpen) return
    client = connect(url)
    silent.destroy()
  }

  function lose(nowMs: number, cause: unknown): void {
    retryAtMs = nowMs + RETRY_MS
    if (reachable) report({ is: 'lost', cause })
    reachable = false
  }

  function regain(): void {
    if (!reachable) report({ is: 'regained' })
    reachable = true
  }

  function share(own: Allowance): SharedDecide {
    function decideAlone(key: string, nowMs: number, units: number): Decision {
      // The store does not know requests accepted now, so they count on this node until they leave the window.
      ownUntilMs = Math.max(ownUntilMs, nowMs + own.policy.windowMs)
      report({ is: 'own-decision' })
      return own.decide(key, nowMs, units)
    }
    return async (key, nowMs, units = 1) => {
      if (nowMs < retryAtMs) return decideAlone(key, nowMs, units)
      const alone = nowMs < ownUntilMs ? own.peek(key, nowMs) : undefined
      // Each request tries a lost store again, because it may have returned.
      if (reachable && alone?.allowed === false) return alone
      try {
        const name = `${prefix}:allowance:${own.policy.name}:${key}`
        const asked = client
        const answer = asked.decide(name, own.policy, units)
        const decision = decisionOf(own.policy, await within(timeoutMs, answer, () => reconnect(asked)))
        regain()
        if (alone?.allowed === false) return alone
        // The node counts too, so that losing the store does not renew an allowance.
        if (decision.allowed) own.decide(key, nowMs, units)
        return decision
      } catch (cause) {
        lose(nowMs, cause)
        return decideAlone(key, nowMs, units)
      }
    }
  }

  async function close(): Promise<void> {
    client.destroy()
  }

  // The first refusal ends the wait too. The client keeps trying.
  await within(START_MS, Promise.race([once(client, 'ready'), once(client, 'error')])).catch(() => undefined)
  return { share, [Symbol.asyncDispose]: close }
}

/** Opens a client that connects, and keeps trying until it is destroyed. */
function connect(url: string) {
  const client = createClient({
    url,
    RESP: 2,
    scripts: { decide: decideScript },
    // A request must not wait in a queue for a connection that may never come.
    disableOfflineQueue: true,
    commandsQueueMaxLength: QUEUE_MAX,
    socket: { connectTimeout: START_MS, reconnectStrategy: () => RECONNECT_MS },
  })
  // Each failure shows in its decision. Without a listener it would end the process.
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  return client
}

function decisionOf({ requests }: Policy, reply: unknown): Decision {
  const [allowed, used, freesMs] = REPLY.parse(reply)
  const waitSeconds = Math.ceil(freesMs / SECOND_MS)
  return {
    allowed: allowed === 1,
    remaining: Math.max(0, requests - used),
    resetSeconds: waitSeconds,
    retryAfterSeconds: allowed === 1 ? 0 : waitSeconds,
  }
}

/** Settles as the promise, or rejects after `limitMs`. */
async function within<Value>(limitMs: number, promise: Promise<Value>, onLate?: () => void): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    late.reject(new Error(`no answer within ${limitMs} ms`))
    onLate?.()
  }, limitMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
