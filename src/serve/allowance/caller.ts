import type { IncomingMessage } from 'node:http'
import { type IpAddress, parseIpAddress, senderKey } from '../../protocol/sender-key.ts'
import { type Network, contains } from './caller-network.ts'

/** Key that all callers without a known address share. */
export const UNKNOWN_CALLER = 'unknown'

/** Longest text of an address, in characters: IPv6 with brackets, zone id and port. */
const HOP_CHARACTERS_MAX = 80

/** Longest chain of proxies that is followed. */
const HOPS_MAX = 32

const BRACKETED = /^\[([^[\]]*)\](?::\d{1,5})?$/
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/

/**
 * Key that a request counts under: its peer, or the rightmost hop that is no trusted proxy. X-Forwarded-For is read
 * only if the peer is trusted; other headers never are.
 */
export function callerOf(
  request: Readonly<{
    headers: IncomingMessage['headers']
    socket: Readonly<{ remoteAddress?: string | undefined }>
  }>,
  trusted: readonly Network[],
): string {
  if (trusted.length === 0) return callerKey(request.socket.remoteAddress, undefined, trusted)
  const forwarded = request.headers['x-forwarded-for']
  const list = typeof forwarded === 'string' ? forwarded : forwarded?.join(',')
  return callerKey(request.socket.remoteAddress, list, trusted)
}

/** As `callerOf`, from the socket's address and the joined value of X-Forwarded-For. */
export function callerKey(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: readonly Network[],
): string {
  if (peer === undefined) return UNKNOWN_CALLER
  // An IPv4 peer is its own key, so the common case needs no parsing.
  if (trusted.length === 0 && !peer.includes(':')) return peer
  const address = parseHop(peer)
  if (address === undefined) return UNKNOWN_CALLER
  return senderKey(callerAddress(address, forwardedFor ?? '', trusted))
}

/** Address that a connection counts for; null for a trusted proxy. */
export function peerOf(peer: string | undefined, trusted: readonly Network[]): string | null {
  const address = peer === undefined ? undefined : parseHop(peer)
  if (address === undefined) return UNKNOWN_CALLER
  return contains(trusted, address) ? null : senderKey(address)
}

/** Walks the hops from the right as long as the reporter of the next hop is trusted. */
function callerAddress(peer: IpAddress, forwardedFor: string, trusted: readonly Network[]): IpAddress {
  let caller = peer
  let end = forwardedFor.length
  for (let hops = 0; hops < HOPS_MAX && end > 0 && contains(trusted, caller); hops += 1) {
    const comma = forwardedFor.lastIndexOf(',', end - 1)
    const hop = parseHop(forwardedFor.slice(comma + 1, end).trim())
    // A malformed hop says nothing about the hops left of it: its reporter counts.
    if (hop === undefined) return caller
    caller = hop
    end = comma
  }
  return caller
}

/** Parses one hop, with or without port, brackets and zone id; undefined if it is no full address. */
function parseHop(text: string): IpAddress | undefined {
  if (text.length > HOP_CHARACTERS_MAX) return undefined
  const bare = BRACKETED.exec(text)?.[1] ?? IPV4_WITH_PORT.exec(text)?.[1] ?? text
  return parseIpAddress(bare)
}
