import { Command } from 'commander'
import { hasStore } from '../../log/store/store.ts'
import { sayStart } from '../log-lines/begin-lines.ts'
import type { MainLines } from '../log-lines/log-lines.ts'
import type { ServeOptions } from '../operator/serve-program.ts'
import { worldWithLines, serveOptions, settingsOf } from '../operator/serve-program.ts'
import { refuseOtherOwner } from '../terminal/directory-owner.ts'
import { refuseMirrorDirectory } from '../terminal/mirror-directory.ts'
import type { ExitCode, World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'
import { demo, holdsRealLog, upgradeDemo } from './demo.ts'

/** The command `demo`, with the options of `serve`. */
export function demoCommand(world: World, lines: MainLines, done: (code: ExitCode) => void): Command {
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
    if (options.finality !== undefined || options.finalityAmounts !== undefined) {
      throw new CommandError(
        2,
        'the simulated platform asks a pretend chain of its own: leave out --finality',
      )
    }
    const own = worldWithLines(options, command, { world, lines })
    refuseOtherOwner(options.data, own)
    refuseMirrorDirectory(options.data)
    if (hasStore(options.data)) await upgradeDemo(options.data, own)
    const settings = settingsOf(options, { simulated: true, carrier: null }, own)
    sayStart(lines, command)
    done(await demo(settings, own, lines))
  })
}
