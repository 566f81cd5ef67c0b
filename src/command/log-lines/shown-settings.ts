import type { Command, Option } from 'commander'
import { chainUrlsOf } from '../../finality/rpc/chain-url.ts'
import { readServers } from '../terminal/chain-words.ts'

type Shown = string | number | boolean

/** Options whose text is shown as it is. Numbers and switches always are. */
const PLAIN: ReadonlySet<string> = new Set([
  'balances',
  'chain',
  'contact',
  'data',
  'host',
  'key-file',
  'licence',
  'log-level',
  'name',
  'ops-host',
  'origin',
  'origin-url',
  'public-url',
  'publish-host',
  'publish-token-file',
  'rate-limit',
  'signing-key-file',
  'site-name',
  'token',
  'trust-proxy',
])

/** Options with a value that may hold a secret, and the part of it that is shown. */
const REDUCED: ReadonlyMap<string, (value: unknown) => Shown> = new Map<string, (value: unknown) => Shown>([
  ['finality', (value) => serversOf(String(value))],
  ['log-store', (value) => serverOf(String(value))],
])

/** Shown for an option that is in neither table, such as `--finality-amounts`, whose accounts are private. */
const GIVEN = 'given'

/** Options of a command that are in effect, by name, without secrets: for a log line. */
export function shownSettings(command: Command): Readonly<Record<string, Shown>> {
  const shown: Record<string, Shown> = {}
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName())
    const isEmpty = Array.isArray(value) && value.length === 0
    if (value !== undefined && !isEmpty) shown[nameOf(option)] = shownValue(nameOf(option), value)
  }
  return shown
}

function nameOf({ long }: Option): string {
  return (long ?? '').replace(/^--/, '')
}

function shownValue(name: string, value: unknown): Shown {
  const reduce = REDUCED.get(name)
  if (reduce !== undefined) return reduce(value)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return PLAIN.has(name) ? String(value) : GIVEN
}

/** Number and host of each RPC server. */
function serversOf(text: string): string {
  const { chain, urls } = readServers('--finality', text)
  return `${chain}=${chainUrlsOf(urls)
    .map(({ name }) => name)
    .join(', ')}`
}

/** Scheme, host and port of a server, without user, password, path and query. */
function serverOf(text: string): string {
  const url = URL.parse(text)
  return url === null ? GIVEN : `${url.protocol}//${url.host}`
}
