import ipaddr from 'ipaddr.js'

/** An IP address of either version. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6

const ZONE_ID = /%[A-Za-z0-9._~-]+$/

/**
 * Parses a full address without brackets or port; undefined for other text. An IPv4-mapped or NAT64 address becomes
 * IPv4.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  // A zone identifies a network link of the reporting machine. It does not distinguish senders.
  const unzoned = text.replace(ZONE_ID, '')
  return ipaddr.IPv6.isValid(unzoned) ? embedded(ipaddr.IPv6.parse(unzoned)) : undefined
}

/**
 * Key of the sender at an address: the IPv4 address, or the /64 of an IPv6 address, because a sender owns its whole
 * /64.
 */
export function senderKey(address: IpAddress): string {
  if (address instanceof ipaddr.IPv4) return address.toString()
  const prefix = address.parts.slice(0, 4).map((part) => part.toString(16))
  return `${prefix.join(':')}::/64`
}

/** The IPv4 address in an IPv4-mapped or NAT64 address, otherwise the address itself. */
function embedded(address: ipaddr.IPv6): IpAddress {
  const range = address.range()
  if (range !== 'ipv4Mapped' && range !== 'rfc6052') return address
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}

/** Bytes of an address that a log line may show. */
const SHOWN_BYTES = { ipv4: 3, ipv6: 6 } as const

/** Network of a sender's key or address, without the bits that distinguish its neighbours. `unknown` for other text. */
export function shortenSender(key: string): string {
  const address = parseIpAddress(key.replace(/\/64$/, ''))
  if (address === undefined) return 'unknown'
  const shown = SHOWN_BYTES[address.kind()]
  const bytes = address.toByteArray().map((byte, at) => (at < shown ? byte : 0))
  return `${ipaddr.fromByteArray(bytes).toString()}/${8 * shown}`
}
