import { createHash } from 'node:crypto'
import { type Command, Command as NewCommand, InvalidArgumentError } from 'commander'
import { parseVkey } from '../../tlog/vkey.ts'
import { beginLines, type LineOptions, lineOptions, sayStart } from '../../command/log-lines/start-lines.ts'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import {
  type NodeOptions,
  nodeOptions,
  nodeSettingsOf,
  portNumber,
} from '../../command/operator/node-options.ts'
import { publicUrl, siteOf, type SiteOptions, siteOptions } from '../../command/operator/site-options.ts'
import { readAddress } from '../../command/terminal/log-address.ts'
import { makeFolder } from '../../command/terminal/option-paths.ts'
import { keyFiles, option, optionOf, originName } from '../../command/terminal/options.ts'
import { VERSION } from '../../command/terminal/version.ts'
import { CommandError, type ExitCode, type CommandContext } from '../../command/terminal/command-context.ts'
import type { RunMirrorSettings } from './mirror-command.ts'
import { refuseOtherOwner } from '../../command/terminal/log-directory.ts'

type MirrorOptions = SiteOptions &
  LineOptions &
  NodeOptions &
  Readonly<{
    vkey: readonly string[]
    originUrl?: string
    followFormer?: true
    opsHost: string
    opsPort: number
    witnessName?: string
    witnessKeyFile?: readonly string[]
    witnessHost: string
    witnessPort: number
    acceptCopy?: true
  }>

const own = optionOf('mirror')

/** Command `daybook mirror` with its options. */
export function mirrorCommand(
  context: CommandContext,
  lines: LogLines,
  done: (code: ExitCode) => void,
): Command {
  const command = new NewCommand('mirror')
    .description('follow the log of another service, prove all of it, and serve it')
    .argument('<url>', 'address of the service to follow')
    .addOption(
      option('--vkey <key>', 'verifier key of the log that you know; may be repeated')
        .argParser(vkeys)
        .default([], 'the keys that the log lists at the first start'),
    )
    .addOption(
      option(
        '--origin-url <url>',
        'public address of the followed service, if this mirror uses another one',
      ).argParser(publicUrl),
    )
    .addOption(
      option('--follow-former', 'go on with a log that continues the mirrored one after a loss of events'),
    )
  return nodeOptions(lineOptions(siteOptions(command)), (node) =>
    witnessOptions(node)
      .addOption(option('--ops-host <address>', 'address of the private listener').default('127.0.0.1'))
      .addOption(
        option('--ops-port <n>', 'port of the private listener').argParser(portNumber).default(8081),
      ),
  ).action(async (url: string, options: MirrorOptions, self: Command) => {
    const origin = readAddress(url).origin
    const witness = witnessOf(options)
    const ownContext = beginLines(options, { context, lines })
    refuseOtherOwner(options.data, ownContext)
    makeFolder(options.data, '--data')
    sayStart(lines, self)
    const { runMirror } = await import('./mirror-command.ts')
    done(await runMirror({ ...settingsOf(origin, options, ownContext), witness }, ownContext, lines))
  })
}

/** Adds the options of a mirror that cosigns. */
function witnessOptions(command: Command): Command {
  return command
    .addOption(
      own(
        '--witness-name <name>',
        'cosign the log as a witness of this name, for ever: mirror.example.org/w1',
      ).argParser(originName),
    )
    .addOption(
      own(
        '--witness-key-file <file>',
        'key that cosigns, of Ed25519 or ML-DSA-44; once for each (default: <dir>.witness.key and <dir>.witness.ml-dsa.key, made at the first start)',
      ).argParser((paths: string, earlier: readonly string[] | undefined) => [
        ...(earlier ?? []),
        ...keyFiles(paths),
      ]),
    )
    .addOption(own('--witness-host <address>', 'address of the listener of the witness').default('127.0.0.1'))
    .addOption(
      own('--witness-port <n>', 'port of the listener of the witness').argParser(portNumber).default(8090),
    )
    .addOption(
      own(
        '--accept-copy',
        'for one start: the state of the witness was moved, it is the newest one, and nothing else cosigns with its keys any more',
      ),
    )
}

function witnessOf(options: MirrorOptions): RunMirrorSettings['witness'] {
  const { witnessName, witnessKeyFile, witnessHost, witnessPort, acceptCopy } = options
  if (witnessName === undefined) {
    if (witnessKeyFile !== undefined) throw new CommandError(2, '--witness-key-file needs --witness-name')
    if (acceptCopy === true) throw new CommandError(2, '--accept-copy needs --witness-name')
    return null
  }
  return {
    name: witnessName,
    keyFile: witnessKeyFile,
    host: witnessHost,
    port: witnessPort,
    acceptCopy: acceptCopy === true,
  }
}

function settingsOf(
  url: string,
  options: MirrorOptions,
  context: CommandContext,
): Omit<RunMirrorSettings, 'witness'> {
  return {
    ...nodeSettingsOf(options),
    site: siteOf(options, context.now()),
    publicUrl: options.publicUrl ?? null,
    mirrorOf: options.originUrl ?? url,
    opsHost: options.opsHost,
    opsPort: options.opsPort,
    followed: {
      url,
      dataDirectory: options.data,
      vkeys: options.vkey,
      followFormer: options.followFormer === true,
      version: VERSION,
    },
  }
}

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

/** Adds verifier keys to those of earlier options. An environment variable holds several with spaces between them. */
function vkeys(text: string, earlier: readonly string[]): readonly string[] {
  const written = text.split(/\s+/).filter((one) => one !== '')
  // An empty text names no key, and is no key either.
  for (const one of written.length === 0 ? [''] : written) {
    if (parseVkey(sha256, one) === undefined)
      throw new InvalidArgumentError(
        'give a verifier key as `daybook keygen --show` and /api/v1/log/keys write it',
      )
  }
  return [...earlier, ...written]
}
