import type { IncomingMessage } from 'node:http'
import { type IpAddress, parseIpAddress, senderKey } from '../../protocol/sender-key.ts'
import ipaddr from 'ipaddr.js'
import { type Parsed, parsed, refused } from '../../protocol/problem.ts'

/** Key that all callers without a known address share. */
export const UNKNOWN_CALLER = 'unknown'

/** Longest text of an address, in characters: IPv6 with brackets, zone id and port. */
const HOP_CHARACTERS_MAX = 80

/** Longest chain of proxies that is followed. */
const HOPS_MAX = 32

const BRACKETED = /^\[([^[\]]*)\](?::\d{1,5})?$/
const IPV4_WITH_PORT = /^([\d.]+):\d{1,5}$/

/**
 * Key under which a request counts: its peer, or the rightmost hop that is no trusted proxy. Reads X-Forwarded-For only
 * if the peer is trusted, and no other header.
 */
export function callerOf(
  request: Readonly<{
    headers: IncomingMessage['headers']
    socket: Readonly<{ remoteAddress?: string | undefined }>
  }>,
  trusted: readonly Network[],
): string {
  const peer = request.socket.remoteAddress
  if (peer === undefined) return UNKNOWN_CALLER
  // An IPv4 peer is its own key, so the common case needs no parsing.
  if (trusted.length === 0 && !peer.includes(':')) return peer
  const address = parseHop(peer)
  if (address === undefined) return UNKNOWN_CALLER
  if (trusted.length === 0) return senderKey(address)
  return senderKey(callerAddress(address, String(request.headers['x-forwarded-for'] ?? ''), trusted))
}

/** Address that a connection counts for; null for a trusted proxy. */
export function peerOf(peer: string | undefined, trusted: readonly Network[]): string | null {
  const address = peer === undefined ? undefined : parseHop(peer)
  if (address === undefined) return UNKNOWN_CALLER
  return contains(trusted, address) ? null : senderKey(address)
}

/** Walks the hops from the right while the reporter of the next hop is trusted. */
function callerAddress(peer: IpAddress, forwardedFor: string, trusted: readonly Network[]): IpAddress {
  let caller = peer
  let end = forwardedFor.length
  for (let hops = 0; hops < HOPS_MAX && end > 0 && contains(trusted, caller); hops += 1) {
    const comma = forwardedFor.lastIndexOf(',', end - 1)
    const hop = parseHop(forwardedFor.slice(comma + 1, end).trim())
    // A malformed hop says nothing about the hops to its left, so its reporter counts.
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

/** A range of addresses: its first address and the length of its prefix in bits. */
export type Network = Readonly<{ base: IpAddress; bits: number }>

/** Prefix length in bits from which an IPv4-mapped range is an IPv4 range. */
const MAPPED_BITS = 96

const NETWORKS_MAX = 1000

/**
 * Parses the proxies of `--trust-proxy`: addresses and CIDR ranges, comma-separated. Empty text trusts none. The detail
 * of a problem names the entry and its fault, for the operator.
 */
export function parseNetworks(text: string): Parsed<readonly Network[]> {
  const entries = text.trim() === '' ? [] : text.split(',')
  if (entries.length > NETWORKS_MAX) return wrong(`more than ${NETWORKS_MAX} ranges`)
  const networks: Network[] = []
  for (const [index, entry] of entries.entries()) {
    const network = parseNetwork(entry.trim())
    if (typeof network === 'string')
      return wrong(`entry ${index + 1}, ${JSON.stringify(entry.trim())}, ${network}`)
    networks.push(network)
  }
  return parsed(networks)
}

/** Whether an address is in one of the ranges. */
function contains(networks: readonly Network[], address: IpAddress): boolean {
  for (const { base, bits } of networks) {
    if (base instanceof ipaddr.IPv4 && address instanceof ipaddr.IPv4 && address.match(base, bits))
      return true
    if (base instanceof ipaddr.IPv6 && address instanceof ipaddr.IPv6 && address.match(base, bits))
      return true
  }
  return false
}

/** Parses one range; text is its fault. */
function parseNetwork(text: string): Network | string {
  const [address = '', bits, ...rest] = text.split('/')
  if (rest.length > 0 || (bits !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(bits))) return NOT_A_RANGE
  if (ipaddr.IPv4.isValidFourPartDecimal(address))
    return checked({ base: ipaddr.IPv4.parse(address), bits: Number(bits ?? 32) })
  if (!address.includes(':') || address.includes('%') || !ipaddr.IPv6.isValid(address)) return NOT_A_RANGE
  const base = ipaddr.IPv6.parse(address)
  const length = Number(bits ?? 128)
  // Mapped addresses of callers become IPv4, so mapped ranges must too.
  const isMapped = base.isIPv4MappedAddress() && length >= MAPPED_BITS && length <= 128
  return checked(
    isMapped ? { base: base.toIPv4Address(), bits: length - MAPPED_BITS } : { base, bits: length },
  )
}

const NOT_A_RANGE = 'is neither an address nor a range such as 10.0.0.0/8 or 2001:db8::/32'

function checked(network: Network): Network | string {
  const { base, bits } = network
  const bitsMax = base instanceof ipaddr.IPv4 ? 32 : 128
  if (bits > bitsMax) return `has a prefix longer than ${bitsMax} bits`
  if (bits === 0) return 'trusts every address, so that callers could choose the one they count under'
  const address = base.toString()
  const first = ipaddr[base instanceof ipaddr.IPv4 ? 'IPv4' : 'IPv6']
    .networkAddressFromCIDR(`${address}/${bits}`)
    .toString()
  // Bits after the prefix are a mistake, and ignoring them would trust strangers.
  if (first === address) return network
  return `has bits after its prefix: ${first}/${bits} is the range, ${address}/${bitsMax} the address`
}

function wrong(detail: string): Parsed<never> {
  return refused({ code: 'invalid-parameter', detail: `trusted proxies: ${detail}` })
}
