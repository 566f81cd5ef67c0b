import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { parseIpAddress, senderKey } from '../../protocol/sender-key.ts'

/** Bytes of a publish token at least. */
export const TOKEN_BYTES_MIN = 32
/** Wrong tokens in a row that one sender is answered without a wait. */
export const WRONG_TOKENS_FREE = 10
/** Milliseconds that each further one costs: a sender is answered one wrong token a second. */
export const WRONG_TOKEN_MS = 1_000
/** Milliseconds that an answer waits at most: less than the door gives its requests when it closes. */
export const WRONG_WAIT_MS_MAX = 4_000
/** Answers that wait at once, over all senders: they hold connections that publishers need. */
const WAITING_MAX = 32
/** Senders of wrong tokens that are remembered; of more, the one idle longest is forgotten. */
export const WRONG_SENDERS_MAX = 1_000

/** `wait`: the token is wrong, and the answer is due after `ms`. `refused`: too many wrong ones wait already. */
type TokenVerdict =
  | Readonly<{ is: 'right' }>
  | Readonly<{ is: 'wait'; ms: number }>
  | Readonly<{ is: 'refused'; retryAfterSeconds: number }>

export type TokenGuard = Readonly<{
  /** Judges the token of a request. A right token never waits, whatever its sender has sent before. */
  judge(request: IncomingMessage): TokenVerdict
  /** An answer that waited has been given. */
  answered(): void
}>

/** Knows the tokens that open the door, and slows down whoever sends many wrong ones. */
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

/** The senders of wrong tokens, each with the moment up to which its wrong tokens are paid for. */
export function openWrongSenders(): Readonly<{
  /** Counts a wrong token: milliseconds until its answer, or null when the sender has too many that wait. */
  waitOf(address: string | undefined, nowMs: number): number | null
}> {
  const paidUpTo = new LRUCache<string, number>({ max: WRONG_SENDERS_MAX })
  return {
    waitOf(address, nowMs) {
      const sender = senderOf(address)
      const paidMs = Math.max(nowMs, paidUpTo.peek(sender) ?? 0) + WRONG_TOKEN_MS
      const waitMs = Math.max(0, paidMs - nowMs - WRONG_TOKENS_FREE * WRONG_TOKEN_MS)
      if (waitMs > WRONG_WAIT_MS_MAX) return null
      paidUpTo.set(sender, paidMs)
      return waitMs
    },
  }
}

/** Key of a sender; all senders without a known address share one. */
function senderOf(address: string | undefined): string {
  const parsed = parseIpAddress(address ?? '')
  return parsed === undefined ? 'unknown' : senderKey(parsed)
}

/** Compares digests of fixed length in constant time, so that neither content nor length of a token shows. */
function isAuthorized(request: IncomingMessage, tokens: readonly Uint8Array[]): boolean {
  const header = request.headersDistinct['authorization']
  // The name of a scheme is the same in any case (RFC 9110, section 11.1).
  const given = header?.length === 1 ? /^Bearer +([\x21-\x7e]+)$/i.exec(header[0] ?? '')?.[1] : undefined
  const digest = hash('sha256', given ?? '', 'buffer')
  let matches = 0
  for (const token of tokens) matches |= timingSafeEqual(token, digest) ? 1 : 0
  return given !== undefined && matches === 1
}
