import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { Command as NewCommand, InvalidArgumentError } from 'commander'
import { parseVkey } from '../../tlog/vkey.ts'
import { beginLines, sayStart } from '../log-lines/begin-lines.ts'
import type { LineOptions } from '../log-lines/line-options.ts'
import { lineOptions } from '../log-lines/line-options.ts'
import type { MainLines } from '../log-lines/log-lines.ts'
import type { NodeOptions } from '../operator/node-options.ts'
import { nodeOptions, nodeSettingsOf, portNumber } from '../operator/node-options.ts'
import type { SiteOptions } from '../operator/site-options.ts'
import { publicUrl, siteOf, siteOptions } from '../operator/site-options.ts'
import { refuseOtherOwner } from '../terminal/directory-owner.ts'
import { readAddress } from '../terminal/log-address.ts'
import { makeFolder } from '../terminal/option-paths.ts'
import { option } from '../terminal/options.ts'
import { VERSION } from '../terminal/version.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import type { ServedMirrorSettings } from './served-mirror.ts'

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
export function mirrorCommand(world: World, lines: MainLines, done: (code: ExitCode) => void): Command {
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
    node
      .addOption(option('--ops-host <address>', 'address of the private listener').default('127.0.0.1'))
      .addOption(
        option('--ops-port <n>', 'port of the private listener').argParser(portNumber).default(8081),
      ),
  ).action(async (url: string, options: MirrorOptions, own: Command) => {
    const origin = readAddress(url).origin
    const world_ = beginLines(options, [], { world, lines })
    refuseOtherOwner(options.data, world_)
    makeFolder(options.data, '--data')
    sayStart(lines, own)
    const { runMirror } = await import('./mirror-command.ts')
    done(await runMirror(settingsOf(origin, options, world_), world_, lines))
  })
}

function settingsOf(url: string, options: MirrorOptions, world: World): ServedMirrorSettings {
  return {
    ...nodeSettingsOf(options),
    site: siteOf(options, world.now()),
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
