import { Command, Option } from 'commander'
import type { ServiceSettings } from '../service/service.ts'
import { refuseOtherOwner } from '../terminal/directory-owner.ts'
import { makeFolder } from '../terminal/option-paths.ts'
import { networks, option, rateLimit, redisUrl, wholeBetween } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'
import { demo, holdsRealLog, upgradeDemo } from './demo.ts'
import type { FinalityOptions } from './finality-options.ts'
import { finalityOf, finalityOptions } from './finality-options.ts'
import type { LogOptions } from './log-options.ts'
import { directoryOption, logOptions, newLogOf } from './log-options.ts'
import type { LogStoreOptions } from './log-store-options.ts'
import { logStoreOf, logStoreOptions } from './log-store-options.ts'
import { SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import type { LineOptions } from '../log-lines/line-options.ts'
import { lineOptions } from '../log-lines/line-options.ts'
import type { MainLines } from '../log-lines/log-lines.ts'
import { openPlainOutput } from '../log-lines/plain-output.ts'
import { VERSION } from '../terminal/version.ts'
import { serve } from './serve.ts'
import { shownSettings } from './shown-settings.ts'
import { readClusterKeys, readSigningKeys } from './signing-key-file.ts'
import type { SiteOptions } from './site-options.ts'
import { siteOf, siteOptions } from './site-options.ts'
import { readTokens } from './token-file.ts'
import { upgradeFirst } from './upgrade-command.ts'
import { hasStore } from '../../log/store/store.ts'

/** Most threads that one process serves with. */
const WORKERS_MAX = 64

type ServeOptions = LogOptions &
  SiteOptions &
  FinalityOptions &
  LineOptions &
  LogStoreOptions &
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
    upgrade?: true
  }>

/** Adds the commands that run a service: `serve` and `demo`. */
export function addServeCommands(
  program: Command,
  world: World,
  lines: MainLines,
  done: (code: ExitCode) => void,
): void {
  program.addCommand(
    serveOptions(new Command('serve').description('serve the log of a data directory')).action(
      async (options: ServeOptions, command: Command) => {
        const own = beginLines(options, command, { world, lines })
        refuseOtherOwner(options.data, own)
        if (options.upgrade === true && hasStore(options.data))
          await upgradeFirst({ data: options.data, waitMs: null, rebuild: false }, own)
        const settings = settingsOf(options, false, own)
        sayStart(lines, command)
        done(await serve(settings, own, lines))
      },
    ),
  )
  program.addCommand(
    serveOptions(
      new Command('demo').description(
        'serve a simulated platform: three months of history, then live events',
      ),
    ).action(async (options: ServeOptions, command: Command) => {
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
      const own = beginLines(options, command, { world, lines })
      refuseOtherOwner(options.data, own)
      if (hasStore(options.data)) await upgradeDemo(options.data, own)
      const settings = settingsOf(options, true, own)
      sayStart(lines, command)
      done(await demo(settings, own, lines))
    }),
  )
}

/**
 * Chooses the log lines of the command. Returns its surroundings, whose plain text becomes log lines too unless a
 * terminal shows it. The simulator publishes every few seconds, so `demo` has no line for that unless asked.
 */
function beginLines(
  { logLevel, logCallers }: ServeOptions,
  command: Command,
  { world, lines }: Readonly<{ world: World; lines: MainLines }>,
): World {
  const isQuiet = command.name() === 'demo' && command.getOptionValueSource('logLevel') === 'default'
  lines.choose({
    level: logLevel,
    callers: logCallers === true,
    without: isQuiet ? ['published', 'held'] : [],
  })
  return world.interactive ? world : { ...world, stderr: openPlainOutput(lines) }
}

function sayStart(lines: MainLines, command: Command): void {
  const { node, sqlite = '' } = process.versions
  lines.say('starting', { version: VERSION, schema: SCHEMA_VERSION, node, sqlite })
  lines.say('options', { settings: shownSettings(command) })
}

/** Adds the options of `serve` and `demo`. */
export function serveOptions(command: Command): Command {
  const port = wholeBetween(0, 65_535)
  return lineOptions(finalityOptions(siteOptions(logStoreOptions(logOptions(command)))))
    .addOption(new Option('--accept-new-key', 'sign with a key that no earlier key has named'))
    .addOption(
      new Option('--accept-loss', 'continue an older copy as a new log, without the events published since'),
    )
    .addOption(
      new Option('--accept-clock', 'publish although the newest event is more than 60 s ahead of the clock'),
    )
    .addOption(
      option(
        '--upgrade',
        'upgrade the store of an older Daybook first, also while that one serves it, and take over when it stops',
      ),
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
  const logStore = logStoreOf(options)
  if (logStore !== null) refuseWithEngine(options, simulated)
  const newLog = newLogOf(options, simulated, logStore !== null)
  makeFolder(options.data, '--data')
  // Before the key and the token are made: a mistake leaves nothing behind.
  const isUnknown = logStore !== null && !hasStore(options.data)
  const finality = finalityOf(options, isUnknown ? null : newLog.chain)
  return {
    data: options.data,
    host: options.host,
    port: options.port,
    publishHost: options.publishHost,
    publishPort: options.publishPort,
    tokens: readTokens(options.publishTokenFile ?? null, options.data),
    newLog,
    signing: {
      keys:
        logStore === null
          ? readSigningKeys(options.signingKeyFile, options.data, newLog.origin, world)
          : readClusterKeys(options.signingKeyFile, options.data, world),
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
    logStore,
  }
}

/** Refuses options that would make another log, or sign this one with another key. */
function refuseWithEngine(options: ServeOptions, simulated: boolean): void {
  const { acceptLoss, acceptNewKey, origin, development, upgrade } = options
  const given = { acceptLoss, acceptNewKey, origin, development, upgrade }
  const [refused] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (simulated) throw new CommandError(2, 'the simulated platform has one node: leave out --log-store')
  if (refused === undefined) return
  const name = refused.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new CommandError(
    2,
    `--${name} changes the log, which --log-store keeps for all nodes: leave it out, and see docs/clusters.md`,
  )
}
