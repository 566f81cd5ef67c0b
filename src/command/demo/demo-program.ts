import { Command } from 'commander'
import { hasStore } from '../../log/store/store.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import { beginLines, openPlainOutput, sayStart } from '../log-lines/start-lines.ts'
import { loadServeParts, type ServeOptions, serveOptions, settingsOf } from '../operator/serve-program.ts'
import type { Option as PluggedOption } from '../plug/option.ts'
import { refuseOtherOwner } from '../terminal/directory-owner.ts'
import { refuseMirrorDirectory } from '../terminal/mirror-directory.ts'
import { CommandError, type ExitCode, type World } from '../terminal/world.ts'
import { demo, type DemoWorld, holdsRealLog, upgradeDemo } from './demo.ts'

/** The command `demo`, with the options of `serve` that are of the core. */
export function demoCommand(
  world: World,
  lines: LogLines,
  done: (code: ExitCode) => void,
  plugged: readonly PluggedOption[],
): Command {
  return serveOptions(
    new Command('demo').description('serve a simulated platform: three months of history, then live events'),
  ).action(async (options: ServeOptions, command: Command) => {
    if (holdsRealLog(options.data)) {
      throw new CommandError(
        2,
        `${options.data} holds a log that is not simulated: give --data another directory`,
      )
    }
    if ((options.chain ?? 'solana') !== 'solana')
      throw new CommandError(2, 'the simulated platform needs --chain solana')
    const own = demoWorld(options, command, { world, lines })
    refuseOtherOwner(options.data, own.shown)
    refuseMirrorDirectory(options.data)
    if (hasStore(options.data)) await upgradeDemo(options.data, own.shown)
    const ports = { carrier: null, cosigners: null, judgeOf: () => null }
    const settings = settingsOf(options, { simulated: true, ...ports }, own.aside)
    sayStart(lines, command)
    const { judgeAt = null } =
      (await loadServeParts(plugged)).find((part) => part.judgeAt !== undefined) ?? {}
    done(await demo(settings, judgeAt, own, lines))
  })
}

/** On a terminal, only errors are shown unless `--log-level` is given. Asides are lines of `info`. */
function demoWorld(
  options: ServeOptions,
  command: Command,
  tools: Readonly<{ world: World; lines: LogLines }>,
): DemoWorld {
  const isAsked = command.getOptionValueSource('logLevel') !== 'default'
  const isQuiet = !isAsked && tools.world.interactive
  const shown = beginLines(isQuiet ? { ...options, logLevel: 'error' } : options, tools)
  return { shown, aside: isQuiet ? { ...shown, stderr: openPlainOutput(tools.lines) } : shown }
}
