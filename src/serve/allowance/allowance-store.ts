import { once } from 'node:events'
import { createClient, defineScript } from '@redis/client'
import { z } from 'zod'
import { SECOND_MS } from '../../protocol/moment.ts'
import type { Allowance, Decision, Policy } from './allowance.ts'

/** What a store tells its owner, for metrics and the report. */
export type StoreSignal =
  | Readonly<{ is: 'lost'; cause: unknown }>
  | Readonly<{ is: 'regained' }>
  /** A decision taken from the node's own allowance, because the store could not be asked. */
  | Readonly<{ is: 'own-decision' }>

export type StoreSettings = Readonly<{
  /** `redis://[user:password@]host[:port][/database]`, or `rediss:` for TLS; any server of that protocol. */
  url: string
  /** Before every key of the store: deployments that share a server differ in it. */
  prefix?: string
  /** How long a request may wait for the store before the node decides by itself. */
  timeoutMs?: number
  report: (signal: StoreSignal) => void
}>

/** Decides as `Allowance.decide`, for all machines together. */
export type SharedDecide = (key: string, nowMs: number, units?: number) => Promise<Decision>

/** The allowances that several machines share. */
export type AllowanceStore = AsyncDisposable &
  Readonly<{
    /** The allowance of all machines under this one's policy; this one takes over while the store is lost. */
    share: (own: Allowance) => SharedDecide
  }>

/** After a failure the store is left alone for so long, so that no request waits for it meanwhile. */
const RETRY_MS = 1000

/** A start waits so long for the store, then goes on without it. */
const START_MS = 2000

const RECONNECT_MS = 500
const TIMEOUT_MS = 250

/** Commands that wait for one connection; beyond them the node decides by itself. */
const QUEUE_MAX = 10_000

// Moments of accepted requests, oldest first, by the store's clock. When that clock has gone back, how old a moment
// "from the future" is cannot be known: it counts as just now, so that nobody gains and nobody waits beyond a window.
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
return { allowed and 1 or 0, used, (oldest or now) + window - now }
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

/** Connects to a store, and reconnects for as long as it is open; throws when the URL is none. */
export async function openAllowanceStore(settings: StoreSettings): Promise<AllowanceStore> {
  const { url, prefix = 'daybook', timeoutMs = TIMEOUT_MS, report } = settings
  let client = connect(url)
  let reachable = true
  let retryAtMs = 0
  let ownUntilMs = 0

  /** A connection that gives no answer may have lost its other end long before the system notices. */
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
      // What is accepted now is unknown to the store: it binds this node until it has left the window.
      ownUntilMs = Math.max(ownUntilMs, nowMs + own.policy.windowMs)
      report({ is: 'own-decision' })
      return own.decide(key, nowMs, units)
    }
    return async (key, nowMs, units = 1) => {
      if (nowMs < retryAtMs) return decideAlone(key, nowMs, units)
      const alone = nowMs < ownUntilMs ? own.peek(key, nowMs) : undefined
      // A store that is lost is asked all the same: any request may find it again.
      if (reachable && alone?.allowed === false) return alone
      try {
        const name = `${prefix}:allowance:${own.policy.name}:${key}`
        const asked = client
        const answer = asked.decide(name, own.policy, units)
        const decision = decisionOf(own.policy, await within(timeoutMs, answer, () => reconnect(asked)))
        regain()
        if (alone?.allowed === false) return alone
        // The node's own count goes along, so that losing the store is no fresh allowance.
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

  // The first refusal ends the wait too; the client goes on trying.
  await within(START_MS, Promise.race([once(client, 'ready'), once(client, 'error')])).catch(() => undefined)
  return { share, [Symbol.asyncDispose]: close }
}

/** A client that is connecting, and goes on trying until it is destroyed. */
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
  // Every failure shows in the decision that meets it; without a listener it would end the process.
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  return client
}

function decisionOf({ requests }: Policy, reply: unknown): Decision {
  const [allowed, used, oldestLeavesMs] = REPLY.parse(reply)
  const waitSeconds = Math.ceil(oldestLeavesMs / SECOND_MS)
  return {
    allowed: allowed === 1,
    remaining: requests - used,
    resetSeconds: waitSeconds,
    retryAfterSeconds: allowed === 1 ? 0 : waitSeconds,
  }
}

/** The promise's value, unless it takes longer: then it is left alone and an error thrown. */
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
