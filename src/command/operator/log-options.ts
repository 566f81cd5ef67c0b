import type { Option } from 'commander'
import { readHighWater } from '../../log/store/high-water.ts'
import { hasStore, type NewLog, readStoreIdentity } from '../../log/store/store.ts'
import { nameOfLog } from '../../log/tree/ready-log.ts'
import { type Chain, CHAINS } from '../../protocol/tx.ts'
import { UsageError } from '../terminal/command-error.ts'
import { keyFiles, networks, option, originName, rateLimit, wholeBetween } from '../terminal/options.ts'
import { shellQuoted } from '../terminal/output.ts'
import type { NodeSettings } from '../service/node-threads.ts'

/** Origin of a log for development or demonstration, and name for a key without a log. */
export const ORIGIN: string = 'localhost/daybook'

/** Options of the commands that may make a log. */
export type LogOptions = Readonly<{
  chain?: Chain
  origin?: string
  development?: true
  signingKeyFile?: readonly string[]
  balances: 'refuse' | 'report'
}>

/** Options of a command that may make a log. */
export const LOG_OPTIONS: readonly Option[] = [
  option('--chain <name>', 'chain whose transaction format a new log uses (default: solana)').choices(CHAINS),
  option(
    '--origin <name>',
    'name of a new log in every signature, for ever: data.example.org/book',
  ).argParser(originName),
  option('--development', `make a new log without --origin, to try things out: its name is ${ORIGIN}`),
  option(
    '--signing-key-file <files>',
    'Ed25519 key that signs the log; two with a comma while it changes (default: <dir>.key, made for a new log)',
  ).argParser(keyFiles),
  option('--balances <how>', 'refuse or report drafts that overdraw an account or are out of order')
    .choices(['refuse', 'report'])
    .default('refuse'),
]

/** The option `--data`. */
export function directoryOption(): Option {
  return option('--data <dir>', 'data directory; required').makeOptionMandatory()
}

/** Refuses a data directory without a log. */
export function requireLog(data: string): void {
  if (!hasStore(data)) throw new UsageError(`--data: ${shellQuoted(data)} holds no log`)
}

/**
 * Identity of the log in the data directory, or of a new one. A node that `joins` gets it from other machines. Refuses
 * options that contradict an existing log, and a new log without a name.
 */
export function newLogOf(
  options: LogOptions & Readonly<{ data: string }>,
  simulated: boolean,
  joins = false,
): NewLog {
  const origin = options.origin === undefined ? undefined : nameOf(options.origin, simulated)
  if (!hasStore(options.data)) {
    const isNamed = origin !== undefined || simulated || options.development === true || joins
    // A lost log keeps its name, which is in the high-water mark.
    if (!isNamed && readHighWater(options.data) === null) throw new UsageError(NO_NAME)
    return { chain: options.chain ?? 'solana', origin: origin ?? nameOf(ORIGIN, simulated), simulated }
  }
  const existing = readStoreIdentity(options.data)
  if (options.chain !== undefined && options.chain !== existing.chain) {
    throw new UsageError(`this log was made with --chain ${existing.chain}, not ${options.chain}`)
  }
  const existingOrigin = nameOfLog(existing)
  if (origin !== undefined && origin !== existingOrigin) {
    throw new UsageError(`this log was made with --origin ${existingOrigin}, not ${origin}`)
  }
  return existing
}

const NO_NAME =
  'a new log needs --origin: its name in every signature, for ever, such as data.example.org/book; to try things out, give --development'

/** Whether an origin names no site, as for development or a demonstration. */
export function namesNoSite(origin: string): boolean {
  return /^simulated\.|^localhost(?:[:/]|$)/.test(origin)
}

function nameOf(origin: string, simulated: boolean): string {
  return simulated ? `simulated.${origin}` : origin
}

/** Most threads that one process serves with. */
const WORKERS_MAX = 64

/** Options of a command that serves a log, as commander parses them. */
export type NodeOptions = Readonly<{
  data: string
  host: string
  port: number
  trustProxy: string
  rateLimit: number | 'off'
  maxStreams: number
  workers: number
  drain: number
  verifyFirst?: true
}>

/** Parses the number of a port. */
export const portNumber: (text: string) => number = wholeBetween(0, 65_535)

/** Options of a command that serves a log. `listener` has the options of its private listener. */
export function nodeOptions(listener: readonly Option[]): readonly Option[] {
  return [
    option('--verify-first', 'hash the whole log again before the first answer'),
    directoryOption(),
    option('--host <address>', 'address of the public listener').default('127.0.0.1'),
    option('--port <n>', 'port of the public listener').argParser(portNumber).default(8080),
    ...listener,
    option('--trust-proxy <cidrs>', 'networks of proxies whose X-Forwarded-For is believed')
      .argParser(networks)
      .default('', 'none'),
    option('--rate-limit <n>', 'most requests of one address in any 60 s, or off')
      .argParser(rateLimit)
      .default(60),
    option('--max-streams <n>', 'most open streams of this node')
      .argParser(wholeBetween(1, 100_000))
      .default(10_000),
    option('--workers <n>', 'threads that serve; they share the port and the rate limit')
      .argParser(wholeBetween(1, WORKERS_MAX))
      .default(1),
    option('--drain <seconds>', 'time in which open streams are closed after a stop signal')
      .argParser(wholeBetween(0, 600))
      .default(10),
  ]
}

/** Settings of the node that the options choose. */
export function nodeSettingsOf(
  options: NodeOptions,
): Omit<NodeSettings, 'asksChain' | 'following' | 'mirrorOf' | 'site' | 'publicUrl'> &
  Readonly<{ verifyFirst: boolean }> {
  return {
    data: options.data,
    host: options.host,
    port: options.port,
    verifyFirst: options.verifyFirst === true,
    trustProxy: options.trustProxy,
    rateLimit: options.rateLimit === 'off' ? null : options.rateLimit,
    streamsMax: options.maxStreams,
    workers: options.workers,
    drainMs: options.drain * 1_000,
  }
}
