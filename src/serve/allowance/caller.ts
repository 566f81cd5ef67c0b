import type { IncomingMessage } from 'node:http'
import type { IpAddress } from '../../protocol/sender-key.ts'
import { parseIpAddress, senderKey } from '../../protocol/sender-key.ts'
import { type Network, contains } from './caller-network.ts'

/** The key of every caller whose peer address is unknown: they share one allowance. */
export const UNKNOWN_CALLER = 'unknown'

/** A longer hop is no address: the longest is an IPv6 address with brackets, zone id and port. */
const HOP_CHARACTERS_MAX = 80

/** No deployment has more proxies of its own in a row; further hops are not looked at. */
const HOPS_MAX = 32

const BRACKETED = /^\[([^[\]]*)\](?::\d{1,5})?$/
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/

/**
 * The key under which a request counts: its peer, or the rightmost hop that is no trusted proxy.
 * No header but X-Forwarded-For is read, and that one only when the peer is trusted.
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
  // What the kernel says of an IPv4 peer is its key as it stands: the common case costs no parsing.
  if (trusted.length === 0 && !peer.includes(':')) return peer
  const address = parseHop(peer)
  if (address === undefined) return UNKNOWN_CALLER
  return senderKey(callerAddress(address, forwardedFor ?? '', trusted))
}

/** The address that a connection counts for; null for a trusted proxy, which speaks for many. */
export function peerOf(peer: string | undefined, trusted: readonly Network[]): string | null {
  const address = peer === undefined ? undefined : parseHop(peer)
  if (address === undefined) return UNKNOWN_CALLER
  return contains(trusted, address) ? null : senderKey(address)
}

/** Walks from the right as long as whoever reported the next hop is trusted. */
function callerAddress(peer: IpAddress, forwardedFor: string, trusted: readonly Network[]): IpAddress {
  let caller = peer
  let end = forwardedFor.length
  for (let hops = 0; hops < HOPS_MAX && end > 0 && contains(trusted, caller); hops += 1) {
    const comma = forwardedFor.lastIndexOf(',', end - 1)
    const hop = parseHop(forwardedFor.slice(comma + 1, end).trim())
    // A hop that is no address tells nothing about what is left of it: the one who reported it counts.
    if (hop === undefined) return caller
    caller = hop
    end = comma
  }
  return caller
}

/** One hop, with or without port, brackets and zone id; undefined for anything that is no full address. */
function parseHop(text: string): IpAddress | undefined {
  if (text.length > HOP_CHARACTERS_MAX) return undefined
  const bare = BRACKETED.exec(text)?.[1] ?? IPV4_WITH_PORT.exec(text)?.[1] ?? text
  return parseIpAddress(bare)
}
