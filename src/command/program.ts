import { Command, Option } from 'commander'
import type { Logger } from 'pino'
import type { Readable } from 'node:stream'
import type { NewLog } from '../log/store.ts'
import { nameOfLog } from '../log/ready-log.ts'
import { hasStore, readStoreIdentity } from '../log/store.ts'
import { CHAINS } from '../protocol/tx.ts'
import type { Chain } from '../protocol/tx.ts'
import { backUp } from './backup.ts'
import { check } from './check.ts'
import { addConsumerCommands } from './consumer-program.ts'
import { makeFolder } from './given-paths.ts'
import type { KeygenOptions } from './keygen.ts'
import { keygen } from './keygen.ts'
import { demo, holdsRealLog } from './demo.ts'
import { checkFiles, runImport } from './import.ts'
import { keyFiles, networks, option, originName, rateLimit, redisUrl, wholeBetween } from './options.ts'
import { addOperatorCommands } from './operator-program.ts'
import { publish } from './publish.ts'
import { readTokens, serve } from './serve.ts'
import { readKnownKeys, readSigningKeys } from './signing-key-file.ts'
import type { ServiceSettings } from './service.ts'
import type { SiteOptions } from './site-options.ts'
import { siteOf, siteOptions } from './site-options.ts'
import { verifyCommand } from './verify-command.ts'
import { VERSION } from './version.ts'
import type { ExitCode, World } from './world.ts'
import { CommandError } from './world.ts'

/** Threads that one process serves with at most. */
const WORKERS_MAX = 64

/** The origin of a log that is given no other. */
const ORIGIN = 'localhost/daybook'

const NOTICE = 'The data is informational only: not advice, a forecast or an offer.'

type LogOptions = Readonly<{
  chain?: Chain
  origin?: string
  signingKeyFile?: readonly string[]
  balances: 'refuse' | 'report'
}>

type CheckOptions = Readonly<{ data: string; signingKeyFile?: readonly string[] }>

type ServeOptions = LogOptions &
  SiteOptions &
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
    verifyFirst?: true
  }>

/** The command line: every command, its options and their limits. `done` receives a command's exit code. */
export function openProgram(
  world: World,
  log: Logger,
  input: Readable,
  done: (code: ExitCode) => void,
): Command {
  const program = new Command('daybook')
    .description(`The open book of a contest and prize platform. ${NOTICE}`)
    .version(VERSION)
    .addHelpText(
      'after',
      '\nTo see it all at work: daybook demo --data demo, then daybook tail http://127.0.0.1:8080',
    )
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows how)')
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      writeErr: (text) => void world.stderr.write(text),
    })
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
        throw new CommandError(2, `${options.data} holds a log that is no simulation`)
      }
      if ((options.chain ?? 'solana') !== 'solana')
        throw new CommandError(2, 'the simulated platform pays on solana only')
      done(await demo(settingsOf(options, true, world), world, log))
    }),
  )
  addDataCommands(program, world, input, done)
  addConsumerCommands(program, world, done)
  program.addCommand(verifyCommand(world, done))
  addOperatorCommands(program, world, done)
  return program
}

function addDataCommands(
  program: Command,
  world: World,
  input: Readable,
  done: (code: ExitCode) => void,
): void {
  program.addCommand(
    logOptions(new Command('import').description('load history from files of drafts, all of it or nothing'))
      .argument('<file...>', 'JSON lines of drafts with `at`, plain or gzip')
      .addOption(dataOption())
      .action(async (files: string[], options: LogOptions & { data: string }) => {
        checkFiles(files)
        makeFolder(options.data, '--data')
        const newLog = newLogOf(options, false)
        const keys = readSigningKeys(options.signingKeyFile, options.data, newLog.origin, world)
        done(await runImport({ files, ...options, newLog, keys }, world))
      }),
  )
  program.addCommand(
    new Command('publish')
      .description('send drafts to a publish door')
      .argument('[file]', 'JSON lines of drafts; standard input when absent')
      .addOption(option('--to <url>', 'address of the publish door').default('http://127.0.0.1:8081'))
      .addOption(option('--token-file <file>', 'file with the publish token; required').makeOptionMandatory())
      .action(async (file: string | undefined, options: { to: string; tokenFile: string }) =>
        done(await publish({ file: file ?? null, ...options }, input, world)),
      ),
  )
  program.addCommand(
    new Command('keygen')
      .description('make the key that signs a log, or show the vkey of one')
      .addOption(option('--to <file>', 'file to write; it must not exist').env('DAYBOOK_KEYGEN_TO'))
      .addOption(option('--show <file>', 'file to read instead').env('DAYBOOK_KEYGEN_SHOW'))
      .addOption(option('--origin <name>', 'name of the log').argParser(originName).default(ORIGIN))
      .action((options: KeygenOptions) => done(keygen(options, world))),
  )
  program.addCommand(
    new Command('check')
      .description('recompute everything in a store from the log’s lines')
      .addOption(dataOption())
      .addOption(
        option(
          '--signing-key-file <files>',
          'key that must have signed the log, or two with a comma (default: <dir>.key where it is)',
        ).argParser(keyFiles),
      )
      .action(async ({ data, signingKeyFile }: CheckOptions) =>
        done(await check(data, world, readKnownKeys(signingKeyFile, data, world))),
      ),
  )
  program.addCommand(
    new Command('backup')
      .description('copy a log to one file, also while it is served')
      .addOption(dataOption())
      .addOption(
        option('--to <file>', 'file to write; it must not exist; required')
          .env('DAYBOOK_BACKUP_TO')
          .makeOptionMandatory(),
      )
      .action(async ({ data, to }: { data: string; to: string }) => done(await backUp(data, to, world))),
  )
}

function dataOption() {
  return option('--data <dir>', 'data directory; required').makeOptionMandatory()
}

function logOptions(command: Command): Command {
  return command
    .addOption(
      option('--chain <name>', 'how transactions of a new log are written (default: solana)').choices(CHAINS),
    )
    .addOption(
      option('--origin <name>', `name of a new log in signed statements (default: ${ORIGIN})`).argParser(
        originName,
      ),
    )
    .addOption(
      option(
        '--signing-key-file <files>',
        'Ed25519 key that signs the log; two with a comma while it changes (default: <dir>.key, made for a new log)',
      ).argParser(keyFiles),
    )
    .addOption(
      option('--balances <how>', 'refuse what would overdraw an account or is out of order, or report it')
        .choices(['refuse', 'report'])
        .default('refuse'),
    )
}

function serveOptions(command: Command): Command {
  const port = wholeBetween(0, 65_535)
  return siteOptions(logOptions(command))
    .addOption(new Option('--accept-new-key', 'sign with a key that no listed one vouches for'))
    .addOption(
      new Option('--accept-loss', 'go on from an older copy as a new log, without what was published since'),
    )
    .addOption(option('--verify-first', 'hash the whole log again before the first answer'))
    .addOption(dataOption())
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
      option('--trust-proxy <cidrs>', 'proxies whose X-Forwarded-For counts')
        .argParser(networks)
        .default('', 'none'),
    )
    .addOption(
      option('--rate-limit <n>', 'requests of one address in any 60 s, or off')
        .argParser(rateLimit)
        .default(60),
    )
    .addOption(
      option('--limit-store <url>', 'redis://… that several machines share the allowance in').argParser(
        redisUrl,
      ),
    )
    .addOption(
      option('--max-streams <n>', 'streams of this node').argParser(wholeBetween(1, 100_000)).default(10_000),
    )
    .addOption(
      option('--workers <n>', 'threads that serve, on one port and one allowance')
        .argParser(wholeBetween(1, WORKERS_MAX))
        .default(1),
    )
    .addOption(
      option('--drain <seconds>', 'time over which streams end at a stop')
        .argParser(wholeBetween(0, 600))
        .default(10),
    )
}

function settingsOf(options: ServeOptions, simulated: boolean, world: World): ServiceSettings {
  makeFolder(options.data, '--data')
  const newLog = newLogOf(options, simulated)
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
    verifyFirst: options.verifyFirst === true,
    balances: options.balances,
    trustProxy: options.trustProxy,
    rateLimit: options.rateLimit === 'off' ? null : options.rateLimit,
    limitStore: options.limitStore ?? null,
    streamsMax: options.maxStreams,
    workers: options.workers,
    drainMs: options.drain * 1_000,
    site: siteOf(options),
    publicUrl: options.publicUrl ?? null,
  }
}

/** What the log of the data directory is, or what a new one is made with; another chain or origin is a mistake. */
function newLogOf(options: LogOptions & Readonly<{ data: string }>, simulated: boolean): NewLog {
  const origin = options.origin === undefined ? undefined : nameOf(options.origin, simulated)
  if (!hasStore(options.data)) {
    return { chain: options.chain ?? 'solana', origin: origin ?? nameOf(ORIGIN, simulated), simulated }
  }
  const kept = readStoreIdentity(options.data)
  if (options.chain !== undefined && options.chain !== kept.chain) {
    throw new CommandError(2, `this log was made for --chain ${kept.chain}, not ${options.chain}`)
  }
  const made = nameOfLog(kept)
  if (origin !== undefined && origin !== made) {
    throw new CommandError(2, `this log was made with --origin ${made}`)
  }
  return kept
}

function nameOf(origin: string, simulated: boolean): string {
  return simulated ? `simulated.${origin}` : origin
}
