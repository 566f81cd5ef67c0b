import { Command } from 'commander'
import { askHeld } from '../operator/held-door.ts'
import { openDoor } from '../operator/publish-door.ts'
import { optionOf } from '../terminal/options.ts'
import type { ExitCode, World } from '../terminal/world.ts'

type RollOptions = Readonly<{ to: string; tokenFile: string }>

/** The command `cluster roll`: the running nodes go on in the next stream. */
export function rollCommand(world: World, done: (code: ExitCode) => void): Command {
  const option = optionOf('cluster_roll')
  return new Command('roll')
    .description('end the stream of a log, and go on in the next one, which `cluster init` has made')
    .addOption(
      option('--to <urls>', 'address of the publish door of a running node').default('http://127.0.0.1:8081'),
    )
    .addOption(option('--token-file <file>', 'file with the publish token; required').makeOptionMandatory())
    .addHelpText('after', '\nExample: daybook cluster roll --token-file token')
    .action(async ({ to, tokenFile }: RollOptions) => {
      const { stream, head } = await askHeld(openDoor(to, tokenFile, world), '/cluster/roll', {})
      world.stdout.write(
        `the log goes on in stream ${String(stream)} after seq ${String(head)}: make a backup, and keep the sealed stream or drop it\n`,
      )
      done(0)
    })
}
