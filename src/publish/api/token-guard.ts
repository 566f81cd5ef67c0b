import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { parseIpAddress, senderKey } from '../../protocol/sender-key.ts'

/** Least bytes of a publish token. */
export const TOKEN_BYTES_MIN = 32
/** Wrong tokens that one sender can send in a row without a delay. */
export const WRONG_TOKENS_FREE = 10
/** Delay added by each further wrong token: one a second for each sender. */
export const WRONG_TOKEN_MS = 1_000
/** Longest delay of an answer, shorter than the grace period of a closing listener. */
export const WRONG_WAIT_MS_MAX = 4_000
/** Most delayed answers, over all senders. They use connections that publishers need. */
const WAITING_MAX = 32
/** Most remembered senders of wrong tokens. Beyond it the least recent sender is forgotten. */
export const WRONG_SENDERS_MAX = 1_000

/**
 * Verdict on a token. `wait`: it is wrong, and the answer is due after `ms`. `refused`: too many answers are delayed
 * already.
 */
type TokenVerdict =
  | Readonly<{ is: 'right' }>
  | Readonly<{ is: 'wait'; ms: number }>
  | Readonly<{ is: 'refused'; retryAfterSeconds: number }>

export type TokenGuard = Readonly<{
  /** Checks the token of a request. A right token is never delayed, even after wrong ones from the same sender. */
  judge(request: IncomingMessage): TokenVerdict
  /** Must be called when a delayed answer has been given. */
  answered(): void
}>

/** Opens the check of publish tokens, which delays senders of many wrong ones. */
export function openTokenGuard(tokens: readonly string[], monotonicMs: () => number): TokenGuard {
  const digests = tokens.map((token) => hash('sha256', token, 'buffer'))
  const senders = openWrongSenders()
  let waiting = 0
  return {
    judge(request) {
      if (isAuthorized(request, digests)) return { is: 'right' }
      const ms = waiting < WAITING_MAX ? senders.waitOf(request.socket.remoteAddress, monotonicMs()) : null
      if (ms === null) return { is: 'refused', retryAfterSeconds: Math.ceil(WRONG_WAIT_MS_MAX / 1_000) }
      waiting += 1
      return { is: 'wait', ms }
    },
    answered: () => void (waiting -= 1),
  }
}

/** Opens a rate limit of wrong tokens by sender. */
export function openWrongSenders(): Readonly<{
  /** Counts a wrong token. Returns the delay of its answer in milliseconds; null when the sender must be refused. */
  waitOf(address: string | undefined, nowMs: number): number | null
}> {
  const busyUntil = new LRUCache<string, number>({ max: WRONG_SENDERS_MAX })
  return {
    waitOf(address, nowMs) {
      const sender = senderOf(address)
      const busyUntilMs = Math.max(nowMs, busyUntil.peek(sender) ?? 0) + WRONG_TOKEN_MS
      const waitMs = Math.max(0, busyUntilMs - nowMs - WRONG_TOKENS_FREE * WRONG_TOKEN_MS)
      if (waitMs > WRONG_WAIT_MS_MAX) return null
      busyUntil.set(sender, busyUntilMs)
      return waitMs
    },
  }
}

/** Key of a sender. Senders without a known address share one. */
function senderOf(address: string | undefined): string {
  const parsed = parseIpAddress(address ?? '')
  return parsed === undefined ? 'unknown' : senderKey(parsed)
}

/**
 * Whether a request has one of the tokens. Compares digests of fixed length in constant time, so that timing reveals
 * neither content nor length of a token.
 */
function isAuthorized(request: IncomingMessage, tokens: readonly Uint8Array[]): boolean {
  const header = request.headersDistinct['authorization']
  // The name of an authentication scheme is case-insensitive (RFC 9110, section 11.1).
  const given = header?.length === 1 ? /^Bearer +([\x21-\x7e]+)$/i.exec(header[0] ?? '')?.[1] : undefined
  const digest = hash('sha256', given ?? '', 'buffer')
  let matches = 0
  for (const token of tokens) matches |= timingSafeEqual(token, digest) ? 1 : 0
  return given !== undefined && matches === 1
}
