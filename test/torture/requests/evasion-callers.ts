import type { Random } from '../../../sim/random.ts'

/** Peers whose X-Forwarded-For counts, and the networks of the proxies behind them. */
export const TRUSTED_PROXIES = '127.9.0.0/16, 10.0.0.0/8, fd00::/8'
const PROXY_PEERS = ['127.9.0.1', '127.9.0.2'] as const

/** A caller as the specification tells callers apart. It may have many addresses, and claims to be anybody. */
export type EvadingCaller = Readonly<{
  name: string
  /** Whether it asks only for what its allowance has left. */
  isPolite: boolean
  /** Address that a connection for it comes from. `::1` can only reach the publish API of both versions. */
  peer(random: Random): string
  /** Header lines that tell its address, among lies. Node's parser must take them. */
  lines(random: Random): readonly string[]
}>

/** Headers that other services take an address from. */
const OTHER_HEADERS = [
  'X-Real-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'X-Original-Forwarded-For',
  'X_Forwarded_For',
  'Client-IP',
  'Via',
] as const
const NAMES = ['X-Forwarded-For', 'x-forwarded-for', 'X-FORWARDED-FOR'] as const
const SEPARATORS = [',', ', ', ' , ', ',\t'] as const
/** Hops of our own proxies behind the first one. */
const INNER_HOPS = [
  '10.4.4.4',
  '::ffff:10.1.1.1',
  '[fd00::9]:443',
  'FD00::0009%eth0',
  '127.9.0.2:80',
] as const

/** Hops that a caller makes up: addresses of other callers and of proxies, and what is no address. */
const CLAIMS = [
  '198.51.100.7',
  '198.51.100.8',
  '198.51.100.9',
  '127.1.0.1',
  '127.9.0.3',
  '2001:db8:77:1::5',
  '[2001:DB8:77:2::1]:80',
  '::1',
  '10.0.0.1',
  '::ffff:10.0.0.1',
  'fd00::1',
  Array.from({ length: 40 }, () => '10.0.0.1').join(),
  '010.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '198.51.100.9:99999',
  '[::1',
  'unknown',
  '_hidden',
  'for=198.51.100.9',
  '__proto__',
  '%00',
  ',,,',
  '198.51.100.9 198.51.100.8',
  'a'.repeat(300),
] as const

/** Forms in which proxies write an IPv4 address. */
function formOfIpv4(address: string, random: Random): string {
  const hex = address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')
  const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`
  const port = random.between(1, 65_535)
  return random.pick([
    address,
    `${address}:${port}`,
    `::ffff:${address}`,
    `::FFFF:${address}`,
    `[::ffff:${address}]:${port}`,
    `::ffff:${groups}`,
    `0:0:0:0:0:FFFF:${groups.toUpperCase()}`,
    `0000:0000:0000:0000:0000:ffff:${groups}`,
    `64:ff9b::${address}`,
    `[::ffff:${groups}%eth0]`,
  ])
}

/** Forms of any address of a /64, whose four groups are given. */
function formOfIpv6(prefix: readonly string[], random: Random): string {
  const low = Array.from({ length: 4 }, () => random.below(65_536).toString(16))
  const whole = [...prefix, ...low]
  const padded = whole.map((group) => group.padStart(4, '0')).join(':')
  const port = random.between(1, 65_535)
  const text = random.pick([
    whole.join(':'),
    padded,
    `${prefix.join(':')}::${random.between(1, 65_535).toString(16)}`,
    `${prefix.join(':')}:0:0:0:1`,
    `${prefix.join(':')}::192.0.2.${random.below(256)}`,
  ])
  const cased = random.chance(0.3) ? text.toUpperCase() : text
  return random.pick([cased, `[${cased}]`, `[${cased}]:${port}`, `${cased}%eth${random.below(9)}`])
}

/** Lines of headers that must not count, with claims. */
function liesIn(random: Random): readonly string[] {
  const lies: string[] = []
  if (random.chance(0.3)) lies.push(`${random.pick(OTHER_HEADERS)}: ${random.pick(CLAIMS)}`)
  if (random.chance(0.2)) lies.push(`Forwarded: for="${random.pick(CLAIMS)}";proto=http;by=10.0.0.1`)
  return lies
}

/** Lines of X-Forwarded-For with these hops, in one line or two. */
function forwardedLines(hops: readonly string[], random: Random): readonly string[] {
  const separator = random.pick(SEPARATORS)
  const cut = random.chance(0.3) ? random.below(hops.length) : 0
  return [hops.slice(0, cut), hops.slice(cut)]
    .filter((part) => part.length > 0)
    .map((part) => `${random.pick(NAMES)}: ${part.join(separator)}`)
}

const claimsOf = (random: Random): readonly string[] =>
  Array.from(
    {
      length: random.weighted([
        [0, 2],
        [1, 3],
        [2, 2],
        [3, 1],
      ]),
    },
    () => random.pick(CLAIMS),
  )

/** Lines in another order. Lines of the same name keep theirs, because proxies append. */
function shuffled(lies: readonly string[], lines: readonly string[], random: Random): readonly string[] {
  return random.chance(0.5) ? [...lies, ...lines] : [...lines, ...lies]
}

/** A caller that connects by itself, so that none of its headers counts. */
function directCaller(address: string): EvadingCaller {
  return {
    name: address,
    isPolite: false,
    peer: () => address,
    lines(random) {
      const claims = claimsOf(random)
      return shuffled(liesIn(random), claims.length > 0 ? forwardedLines(claims, random) : [], random)
    },
  }
}

/** A caller behind a proxy, which appends the caller's address to what the caller has sent. */
function forwardedCaller(
  name: string,
  hop: (random: Random) => string,
  isPolite: boolean = false,
): EvadingCaller {
  return {
    name,
    isPolite,
    peer: (random) => random.pick(PROXY_PEERS),
    lines(random) {
      const inner = random.chance(0.3) ? [random.pick(INNER_HOPS)] : []
      const hops = [...(isPolite ? [] : claimsOf(random)), hop(random), ...inner]
      return shuffled(isPolite ? [] : liesIn(random), forwardedLines(hops, random), random)
    },
  }
}

/** A trusted proxy that asks for itself, or reports a hop that is no address. */
function proxyCaller(address: string): EvadingCaller {
  const broken = ['unknown', '010.0.0.1', '198.51.100.9:999999', '[::1', 'for=1.2.3.4', ''] as const
  return {
    name: address,
    isPolite: false,
    peer: () => address,
    lines: (random) =>
      random.chance(0.5)
        ? liesIn(random)
        : forwardedLines([...claimsOf(random), random.pick(broken)], random),
  }
}

const ipv4 = (address: string, isPolite?: boolean): EvadingCaller =>
  forwardedCaller(address, (random) => formOfIpv4(address, random), isPolite)
const ipv6 = (prefix: string): EvadingCaller =>
  forwardedCaller(`${prefix}::/64`, (random) => formOfIpv6(prefix.split(':'), random))

/** Every caller of the campaign. No two have the same allowance. */
export const EVADING_CALLERS: readonly [EvadingCaller, ...EvadingCaller[]] = [
  directCaller('127.1.0.1'),
  directCaller('127.1.0.2'),
  directCaller('::1'),
  proxyCaller('127.9.0.3'),
  ipv4('198.51.100.7'),
  ipv4('198.51.100.8'),
  ipv4('198.51.100.9', true),
  ipv6('2001:db8:77:1'),
  ipv6('2001:db8:77:2'),
]
