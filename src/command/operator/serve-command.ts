import { type Command, Option } from 'commander'
import { hasStore } from '../../log/store/store.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import { beginLines, LINE_OPTIONS, type LineOptions, sayStart } from '../log-lines/start-lines.ts'
import type { CommandSpec, Option as PluggedOption, ProgramContext, ServePart } from '../plug/option.ts'
import { readTokens } from '../publish/token-file.ts'
import type { Service, ServiceSettings } from '../service/service.ts'
import type { CommandContext, ExitCode } from '../terminal/command-context.ts'
import { UsageError } from '../terminal/command-error.ts'
import { hostInUrl } from '../terminal/log-address.ts'
import { refuseMirrorDirectory, refuseOtherOwner } from '../terminal/log-directory.ts'
import { makeFolder } from '../terminal/option-paths.ts'
import { option } from '../terminal/options.ts'
import {
  LOG_OPTIONS,
  type LogOptions,
  namesNoSite,
  newLogOf,
  type NodeOptions,
  nodeOptions,
  nodeSettingsOf,
  portNumber,
} from './log-options.ts'
import { runToEnd } from './node-ending.ts'
import { readSharedKeys, readSigningKeys } from './signing-key-file.ts'
import { SITE_OPTIONS, siteOf, type SiteOptions } from './site-options.ts'

export type ServeOptions = LogOptions &
  SiteOptions &
  LineOptions &
  NodeOptions &
  Readonly<{
    publishHost: string
    publishPort: number
    publishTokenFile?: string
    acceptNewKey?: true
    acceptLoss?: true
    acceptClock?: true
    upgrade?: true
  }>

/** The command `serve`. */
export async function serveCommand({
  context,
  lines,
  options: plugged,
}: ProgramContext): Promise<CommandSpec> {
  const parts = await loadServeParts(plugged)
  return {
    name: 'serve',
    description: 'serve the log of a data directory',
    options: [...SERVE_OPTIONS, ...parts.flatMap((part) => part.options)],
    async run(options: ServeOptions, command: Command) {
      const own = beginLines(options, { context, lines })
      refuseOtherOwner(options.data, own)
      refuseMirrorDirectory(options.data)
      if (options.upgrade === true && hasStore(options.data)) {
        const { upgradeFirst } = await import('./upgrade-command.ts')
        const files = options.signingKeyFile ?? null
        await upgradeFirst({ data: options.data, waitMs: null, rebuild: false, keyFiles: files }, own)
      }
      const ports = {
        cosigners: chosen(parts, ({ cosigners }) => cosigners?.(options)),
        carrier: chosen(parts, ({ carrier }) => carrier?.(options)),
        judgeOf: (chain: Chain | null) => chosen(parts, ({ judge }) => judge?.(options, chain)),
      }
      const settings = settingsOf(options, { simulated: false, ...ports }, own)
      sayStart(lines, command)
      return await serve(settings, own, lines)
    },
  }
}

/** Loads the parts of `serve` that options bring. */
export async function loadServeParts(plugged: readonly PluggedOption[]): Promise<readonly ServePart[]> {
  return await Promise.all(plugged.flatMap(({ serve: load }) => load?.() ?? []))
}

/** Port of the first part whose options the user has chosen; null when there is none. */
function chosen<Port>(
  parts: readonly ServePart[],
  of: (part: ServePart) => Port | null | undefined,
): Port | null {
  for (const part of parts) {
    const port = of(part) ?? null
    if (port !== null) return port
  }
  return null
}

/** Options of `serve` and `demo`. */
export const SERVE_OPTIONS: readonly Option[] = [
  ...LOG_OPTIONS,
  ...SITE_OPTIONS,
  ...LINE_OPTIONS,
  new Option('--accept-new-key', 'sign with a key that no earlier key has named'),
  new Option('--accept-loss', 'continue an older copy as a new log, without the events published since'),
  new Option('--accept-clock', 'publish although the newest event is more than 60 s ahead of the clock'),
  option(
    '--upgrade',
    'upgrade the store of an older Daybook first, also while that one serves it, and take over when it stops',
  ),
  ...nodeOptions([
    option('--publish-host <address>', 'address of the private listener').default('127.0.0.1'),
    option('--publish-port <n>', 'port of the private listener').argParser(portNumber).default(8081),
    option(
      '--publish-token-file <file>',
      'file with the publish token (default: made in the data directory)',
    ),
  ]),
]

type ServePorts = Pick<ServiceSettings, 'carrier' | 'cosigners'> &
  Readonly<{
    simulated: boolean
    /** Judge of transactions for a log of this chain; null when the chain is not known yet. */
    judgeOf(chain: Chain | null): ServiceSettings['judge']
  }>

/**
 * Settings of the service. `simulated` is for `demo`; options fill the ports. Throws a CommandError for contradicting
 * options.
 */
export function settingsOf(
  options: ServeOptions,
  { simulated, carrier, cosigners, judgeOf }: ServePorts,
  context: CommandContext,
): ServiceSettings {
  if (carrier !== null) refuseChanges(options)
  const newLog = newLogOf(options, simulated, carrier !== null)
  makeFolder(options.data, '--data')
  // Before the key and the token are created, so that a mistake leaves nothing behind.
  const isUnknown = carrier !== null && !hasStore(options.data)
  const judge = judgeOf(isUnknown ? null : newLog.chain)
  return {
    ...nodeSettingsOf(options),
    publishHost: options.publishHost,
    publishPort: options.publishPort,
    tokens: readTokens(options.publishTokenFile ?? null, options.data),
    newLog,
    signing: {
      keys:
        carrier === null
          ? readSigningKeys(options.signingKeyFile, options.data, newLog.origin, context)
          : readSharedKeys(options.signingKeyFile, options.data, context),
      acceptNewKey: options.acceptNewKey === true,
      acceptLoss: options.acceptLoss === true,
    },
    acceptClock: options.acceptClock === true,
    balances: options.balances,
    site: siteOf(options, context.now()),
    publicUrl: options.publicUrl ?? null,
    carrier,
    judge,
    cosigners,
  }
}

/** Refuses options that would make another log than the one on the other machines, or sign it with another key. */
function refuseChanges(options: ServeOptions): void {
  const { acceptLoss, acceptNewKey, origin, development, upgrade } = options
  const given = { acceptLoss, acceptNewKey, origin, development, upgrade }
  const [refused] = Object.entries(given).find(([, value]) => value !== undefined) ?? []
  if (refused === undefined) return
  const name = refused.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new UsageError(
    `--${name} changes the log, which is the same on all nodes: leave it out, and see docs/clusters.md`,
  )
}

/** Serves until a signal stops it or the store fails. `meanwhile` (the simulator) runs at the same time. */
export async function serve(
  settings: ServiceSettings,
  context: CommandContext,
  lines: LogLines,
  meanwhile: (service: Service, stop: AbortSignal) => Promise<void> = async () => {},
): Promise<ExitCode> {
  const beganMs = context.monotonicMs()
  // Loading the service takes most of a command's start, so that only `serve` waits for it.
  const { startService } = await import('../service/service.ts')
  const service = await startService(settings, context, lines)
  const { port, publishPort } = service
  lines.say('ready', {
    url: `http://${hostInUrl(settings.host)}:${port}`,
    privateUrl: `http://${hostInUrl(settings.publishHost)}:${publishPort}`,
    head: service.reader.head().seq,
    ms: Math.round(context.monotonicMs() - beganMs),
  })
  const { origin, simulated } = service.reader.identity
  if (!simulated && namesNoSite(origin)) lines.say('development', { of: origin })
  return await runToEnd(service, { context, lines, drainMs: settings.drainMs }, (stop) =>
    meanwhile(service, stop).catch((error: unknown) => {
      throw new Error(`the simulator failed: ${String(error)}`, { cause: error })
    }),
  )
}
