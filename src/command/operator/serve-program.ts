import { Command, Option } from 'commander'
import type { Logger } from 'pino'
import type { ServiceSettings } from '../service/service.ts'
import { makeFolder } from '../terminal/option-paths.ts'
import { networks, option, rateLimit, redisUrl, wholeBetween } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'
import { demo, holdsRealLog } from './demo.ts'
import type { FinalityOptions } from './finality-options.ts'
import { finalityOf, finalityOptions } from './finality-options.ts'
import type { LogOptions } from './log-options.ts'
import { directoryOption, logOptions, newLogOf } from './log-options.ts'
import { serve } from './serve.ts'
import { readSigningKeys } from './signing-key-file.ts'
import type { SiteOptions } from './site-options.ts'
import { siteOf, siteOptions } from './site-options.ts'
import { readTokens } from './token-file.ts'

/** Most threads that one process serves with. */
const WORKERS_MAX = 64

type ServeOptions = LogOptions &
  SiteOptions &
  FinalityOptions &
  Readonly<{
    data: string
    host: string
    port: number
    publishHost: string
    publishPort: number
    publishTokenFile?: string
    trustProxy: string
    rateLimit: number | 'off'
    limitStore?: string
    maxStreams: number
    workers: number
    drain: number
    acceptNewKey?: true
    acceptLoss?: true
    acceptClock?: true
    verifyFirst?: true
  }>

/** Adds the commands that run a service: `serve` and `demo`. */
export function addServeCommands(
  program: Command,
  world: World,
  log: Logger,
  done: (code: ExitCode) => void,
): void {
  program.addCommand(
    serveOptions(new Command('serve').description('serve the log of a data directory')).action(
      async (options: ServeOptions) => done(await serve(settingsOf(options, false, world), world, log)),
    ),
  )
  program.addCommand(
    serveOptions(
      new Command('demo').description(
        'serve a simulated platform: three months of history, then live events',
      ),
    ).action(async (options: ServeOptions) => {
      if (holdsRealLog(options.data)) {
        throw new CommandError(
          2,
          `${options.data} holds a log that is not simulated: give --data another directory`,
        )
      }
      if ((options.chain ?? 'solana') !== 'solana')
        throw new CommandError(2, 'the simulated platform needs --chain solana')
      if (options.finality !== undefined || options.finalityAmounts !== undefined) {
        throw new CommandError(
          2,
          'the simulated platform asks a pretend chain of its own: leave out --finality',
        )
      }
      done(await demo(settingsOf(options, true, world), world, log))
    }),
  )
}

/** Adds the options of `serve` and `demo`. */
export function serveOptions(command: Command): Command {
  const port = wholeBetween(0, 65_535)
  return finalityOptions(siteOptions(logOptions(command)))
    .addOption(new Option('--accept-new-key', 'sign with a key that no earlier key has named'))
    .addOption(
      new Option('--accept-loss', 'continue an older copy as a new log, without the events published since'),
    )
    .addOption(
      new Option('--accept-clock', 'publish although the newest event is more than 60 s ahead of the clock'),
    )
    .addOption(option('--verify-first', 'hash the whole log again before the first answer'))
    .addOption(directoryOption())
    .addOption(option('--host <address>', 'address of the public listener').default('127.0.0.1'))
    .addOption(option('--port <n>', 'port of the public listener').argParser(port).default(8080))
    .addOption(option('--publish-host <address>', 'address of the private listener').default('127.0.0.1'))
    .addOption(option('--publish-port <n>', 'port of the private listener').argParser(port).default(8081))
    .addOption(
      option(
        '--publish-token-file <file>',
        'file with the publish token (default: made in the data directory)',
      ),
    )
    .addOption(
      option('--trust-proxy <cidrs>', 'networks of proxies whose X-Forwarded-For is believed')
        .argParser(networks)
        .default('', 'none'),
    )
    .addOption(
      option('--rate-limit <n>', 'most requests of one address in any 60 s, or off')
        .argParser(rateLimit)
        .default(60),
    )
    .addOption(
      option(
        '--limit-store <url>',
        'redis://… server in which several machines share the rate limit',
      ).argParser(redisUrl),
    )
    .addOption(
      option('--max-streams <n>', 'most open streams of this node')
        .argParser(wholeBetween(1, 100_000))
        .default(10_000),
    )
    .addOption(
      option('--workers <n>', 'threads that serve; they share the port and the rate limit')
        .argParser(wholeBetween(1, WORKERS_MAX))
        .default(1),
    )
    .addOption(
      option('--drain <seconds>', 'time in which open streams are closed after a stop signal')
        .argParser(wholeBetween(0, 600))
        .default(10),
    )
}

function settingsOf(options: ServeOptions, simulated: boolean, world: World): ServiceSettings {
  const newLog = newLogOf(options, simulated)
  makeFolder(options.data, '--data')
  // Before the key and the token are made: a mistake leaves nothing behind.
  const finality = finalityOf(options, newLog.chain)
  return {
    data: options.data,
    host: options.host,
    port: options.port,
    publishHost: options.publishHost,
    publishPort: options.publishPort,
    tokens: readTokens(options.publishTokenFile ?? null, options.data),
    newLog,
    signing: {
      keys: readSigningKeys(options.signingKeyFile, options.data, newLog.origin, world),
      acceptNewKey: options.acceptNewKey === true,
      acceptLoss: options.acceptLoss === true,
    },
    acceptClock: options.acceptClock === true,
    verifyFirst: options.verifyFirst === true,
    balances: options.balances,
    trustProxy: options.trustProxy,
    rateLimit: options.rateLimit === 'off' ? null : options.rateLimit,
    limitStore: options.limitStore ?? null,
    streamsMax: options.maxStreams,
    workers: options.workers,
    drainMs: options.drain * 1_000,
    site: siteOf(options, world.now()),
    publicUrl: options.publicUrl ?? null,
    finality,
  }
}
