import { Command } from 'commander'
import { askHeld } from '../operator/held-door.ts'
import { openDoor } from '../operator/publish-door.ts'
import { optionOf } from '../terminal/options.ts'
import { printable } from '../terminal/output.ts'
import type { ExitCode, World } from '../terminal/world.ts'

/** Options of a step that a running node takes. */
type StepOptions = Readonly<{ to: string; tokenFile: string }>

type Done = (code: ExitCode) => void

/** The command `cluster roll`: the running nodes go on in the next stream. */
export function rollCommand(world: World, done: Done): Command {
  return stepCommand('roll')
    .description('end the stream of a log, and go on in the next one, which `cluster init` has made')
    .addHelpText('after', '\nExample: daybook cluster roll --token-file token')
    .action(async (options: StepOptions) => {
      const { stream, head } = await ask(options, '/cluster/roll', {}, world)
      world.stdout.write(
        `the log goes on in stream ${String(stream)} after seq ${String(head)}: make a backup, and keep the sealed stream or drop it\n`,
      )
      done(0)
    })
}

/** The command `cluster keys`: all writers sign with other keys. */
export function keysCommand(world: World, done: Done): Command {
  return stepCommand('keys')
    .description('change the keys that sign a log, on all writers at once; every writer must hold them')
    .argument('<vkeys...>', 'vkeys of all keys that sign from now on, one or two (keygen --show)')
    .addHelpText(
      'after',
      `
Example, first with both keys and later with the new one alone:
  daybook cluster keys --token-file token "$OLD" "$NEW"`,
    )
    .action(async (vkeys: readonly string[], options: StepOptions) => {
      const { vkeys: signing, head } = await ask(options, '/cluster/keys', { vkeys }, world)
      const shown = Array.isArray(signing) ? signing.map((vkey) => `${printable(String(vkey))}\n`) : []
      world.stdout.write(`the log is signed with these keys at seq ${String(head)}:\n${shown.join('')}`)
      done(0)
    })
}

/** The command `cluster version`: messages get the newest version, after an upgrade of all writers. */
export function versionCommand(world: World, done: Done): Command {
  return stepCommand('version')
    .description('let messages of a log have the newest version, after the upgrade of all writers')
    .addHelpText('after', '\nExample: daybook cluster version --token-file token')
    .action(async (options: StepOptions) => {
      const { isRaised, frames, needs } = await ask(options, '/cluster/version', {}, world)
      const shown = `version ${String(frames)}`
      world.stdout.write(
        isRaised === true
          ? `messages have ${shown} from now on: every node needs Daybook ${printable(String(needs))} or newer\n`
          : `messages have ${shown} already: nothing was changed\n`,
      )
      done(0)
    })
}

function stepCommand(name: 'roll' | 'keys' | 'version'): Command {
  const option = optionOf(`cluster_${name}`)
  return new Command(name)
    .addOption(
      option('--to <urls>', 'address of the publish door of a running node').default('http://127.0.0.1:8081'),
    )
    .addOption(option('--token-file <file>', 'file with the publish token; required').makeOptionMandatory())
}

/** Asks the doors in turn: a step that is asked for again changes nothing, or completes what has begun. */
function ask(
  { to, tokenFile }: StepOptions,
  path: string,
  body: Parameters<typeof askHeld>[2],
  world: World,
): ReturnType<typeof askHeld> {
  return askHeld(openDoor(to, tokenFile, world), path, body)
}
