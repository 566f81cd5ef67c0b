import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import type { Command } from 'commander'
import { Option } from 'commander'
import { EngineError } from '../../engine/log-engine.ts'
import { isSeed, NO_SEED, parseNatsUrl } from '../../engine/nats/nats-target.ts'
import type { LogStoreSettings } from '../../publish/cluster/log-store-settings.ts'
import { sentDatabase } from '../../publish/cluster/log-store-settings.ts'
import { parseDatabaseUrl } from '../terminal/database-url.ts'
import { readPem, readStart, systemReason } from '../terminal/option-paths.ts'
import { option } from '../terminal/options.ts'
import { CommandError } from '../terminal/world.ts'

/** Options of a log that an engine carries, as commander parses them. */
export type LogStoreOptions = Readonly<{
  logStore?: string
  logStoreCredentials?: string
  singleDatabase?: true
  nodeName?: string
}>

/** Bytes that are read of a credentials or certificate file. */
const SECRET_BYTES_MAX = 64 * 1024
const NODE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

const MACHINE_WORD_LENGTH = 8

/** Adds the options that name the machines which keep the log. */
export function logStoreOptions(command: Command): Command {
  return command
    .addOption(
      option(
        '--log-store <url>',
        'the machines that keep the log, for several writers: nats://a,b,c or postgres://user@a,b/database',
      ),
    )
    .addOption(
      option(
        '--log-store-credentials <file>',
        'file with the credentials of --log-store: the seed of a user of NATS, or the password of PostgreSQL',
      ),
    )
    .addOption(new Option('--single-database', 'accept a PostgreSQL without a synchronous standby'))
    .addOption(
      option(
        '--node-name <name>',
        'name of this node among the writers (default: a word made from the name of the machine)',
      ),
    )
}

/** Settings of the engine; null without `--log-store`. Errors never repeat what was given: it may hold a password. */
export function logStoreOf(options: LogStoreOptions): LogStoreSettings | null {
  const { logStore, logStoreCredentials, singleDatabase, nodeName = machineWord() } = options
  if (logStore === undefined) {
    if (logStoreCredentials !== undefined || singleDatabase !== undefined)
      throw new CommandError(2, '--log-store-credentials and --single-database need --log-store')
    return null
  }
  if (!NODE_NAME.test(nodeName)) {
    throw new CommandError(2, '--node-name: give up to 63 letters, digits, points, hyphens and underscores')
  }
  return { nodeName, engine: engineOf(logStore, logStoreCredentials ?? null, singleDatabase === true) }
}

/** Settings of the engine, for a command that needs one. Throws a CommandError without `--log-store`. */
export function requireLogStore(options: LogStoreOptions): LogStoreSettings {
  const logStore = logStoreOf(options)
  if (logStore === null) throw new CommandError(2, 'give the address of the engine with --log-store')
  return logStore
}

/** A name that stays the same and does not show the machine's name, because a node's name is public. */
function machineWord(): string {
  return `writer-${createHash('sha256').update(hostname()).digest('hex').slice(0, MACHINE_WORD_LENGTH)}`
}

function engineOf(url: string, file: string | null, isSingle: boolean): LogStoreSettings['engine'] {
  if (/^postgres(?:ql)?:/i.test(url)) {
    return { is: 'postgres', target: sentDatabase(parseDatabaseUrl(url, file, '--log-store')), isSingle }
  }
  if (isSingle) throw new CommandError(2, '--single-database: only a PostgreSQL may be single')
  if (!/^(?:nats|tls):/i.test(url)) {
    throw new CommandError(2, '--log-store: give nats://a,b,c or postgres://user@a,b/database')
  }
  const credentials = file === null ? null : seedIn(file)
  try {
    return { is: 'nats', target: parseNatsUrl(url, readCertificate), credentials }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw new CommandError(2, `--log-store: ${error.message}`)
  }
}

function seedIn(path: string): string {
  const seed = orRefused('--log-store-credentials', () => readStart(path, SECRET_BYTES_MAX))
  if (isSeed(seed)) return seed
  throw new CommandError(2, `--log-store-credentials: the file has ${NO_SEED}`)
}

function readCertificate(path: string): string {
  return orRefused('--log-store', () => readPem(path, SECRET_BYTES_MAX))
}

function orRefused(name: string, read: () => string): string {
  try {
    return read()
  } catch (cause) {
    throw new CommandError(2, `${name}: a file cannot be read: ${systemReason(cause)}`, { cause })
  }
}
