import { createHash } from 'node:crypto'
import { Argument, type Command, InvalidArgumentError } from 'commander'
import type { CommandSpec, ProgramContext } from '../../command/plug/option.ts'
import { beginLines, LINE_OPTIONS, type LineOptions, sayStart } from '../../command/log-lines/start-lines.ts'
import { publicUrl, SITE_OPTIONS, siteOf, type SiteOptions } from '../../command/operator/site-options.ts'
import { readAddress } from '../../command/terminal/log-address.ts'
import { makeFolder } from '../../command/terminal/option-paths.ts'
import { option } from '../../command/terminal/options.ts'
import { VERSION } from '../../command/terminal/version.ts'
import type { CommandContext } from '../../command/terminal/command-context.ts'
import type { ServedMirrorSettings } from './served-mirror.ts'
import { refuseOtherOwner } from '../../command/terminal/log-directory.ts'
import { parseVkey } from '../../tlog/note.ts'
import {
  type NodeOptions,
  nodeOptions,
  nodeSettingsOf,
  portNumber,
} from '../../command/operator/log-options.ts'

type MirrorOptions = SiteOptions &
  LineOptions &
  NodeOptions &
  Readonly<{
    vkey: readonly string[]
    originUrl?: string
    followFormer?: true
    opsHost: string
    opsPort: number
  }>

/** Command `daybook mirror` with its options. */
export async function mirrorCommand({
  context,
  lines,
  options: plugged,
}: ProgramContext): Promise<CommandSpec> {
  const parts = await Promise.all(plugged.flatMap(({ mirror: load }) => load?.() ?? []))
  return {
    name: 'mirror',
    description: 'follow the log of another service, prove all of it, and serve it',
    arguments: [new Argument('<url>', 'address of the service to follow')],
    options: [
      option('--vkey <key>', 'verifier key of the log that you know; may be repeated')
        .argParser(vkeys)
        .default([], 'the keys that the log lists at the first start'),
      option(
        '--origin-url <url>',
        'public address of the followed service, if this mirror uses another one',
      ).argParser(publicUrl),
      option('--follow-former', 'go on with a log that continues the mirrored one after a loss of events'),
      ...SITE_OPTIONS,
      ...LINE_OPTIONS,
      ...nodeOptions([
        ...parts.flatMap((part) => part.options),
        option('--ops-host <address>', 'address of the private listener').default('127.0.0.1'),
        option('--ops-port <n>', 'port of the private listener').argParser(portNumber).default(8081),
      ]),
    ],
    async run(url: string, options: MirrorOptions, self: Command) {
      const origin = readAddress(url).origin
      const [witness = null] = parts.flatMap((part) => part.witness(options, options.data) ?? [])
      const ownContext = beginLines(options, { context, lines })
      refuseOtherOwner(options.data, ownContext)
      makeFolder(options.data, '--data')
      sayStart(lines, self)
      const { runMirror } = await import('./run-mirror.ts')
      return await runMirror({ ...settingsOf(origin, options, ownContext), witness }, ownContext, lines)
    },
  }
}

function settingsOf(
  url: string,
  options: MirrorOptions,
  context: CommandContext,
): Omit<ServedMirrorSettings, 'witness'> {
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

/** Adds verifier keys to those of earlier options. An environment variable has several, separated by spaces. */
function vkeys(text: string, earlier: readonly string[]): readonly string[] {
  const written = text.split(/\s+/).filter((one) => one !== '')
  // An empty text names no key, and is refused.
  for (const one of written.length === 0 ? [''] : written) {
    if (parseVkey(sha256, one) === undefined)
      throw new InvalidArgumentError(
        'give a verifier key as `daybook keygen --show` and /api/v1/log/keys write it',
      )
  }
  return [...earlier, ...written]
}
