import type { Option } from 'commander'
import type { NodeSettings } from '../service/node-threads.ts'
import { networks, option, rateLimit, wholeBetween } from '../terminal/options.ts'
import { directoryOption } from './log-options.ts'

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

/** Options of a command that serves a log. `listener` has those of its private listener. */
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
