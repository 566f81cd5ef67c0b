import { Command } from 'commander'
import { COMMAND_GROUPS, lazy, type LazyCommand, type ProgramWorld } from './plug/option.ts'
import { VERSION } from './terminal/version.ts'

const NOTICE = 'The data is informational only: not advice, a forecast or an offer.'

/** All commands of the core. A start loads the one that it is called for. */
const COMMANDS: readonly LazyCommand[] = [
  lazy('trial', 'demo', async ({ world, lines, done, options }) =>
    (await import('./demo/demo-command.ts')).demoCommand(world, lines, done, options),
  ),
  lazy('readers', 'tail', async ({ world, done }) =>
    (await import('./consumer/tail-command.ts')).tailCommand(world, done),
  ),
  lazy('readers', 'get', async ({ world, done }) =>
    (await import('./consumer/get-command.ts')).getCommand(world, done),
  ),
  lazy('readers', 'pull', async ({ world, done }) =>
    (await import('./consumer/pull-command.ts')).pullCommand(world, done),
  ),
  lazy('readers', 'export', async ({ world, done }) =>
    (await import('./consumer/export-command.ts')).exportCommand(world, done),
  ),
  lazy('auditors', 'verify', async ({ world, done }) =>
    (await import('./consumer/verify-command.ts')).verifyCommand(world, done),
  ),
  lazy('auditors', 'mirror', async ({ world, lines, done }) =>
    (await import('../mirror/command/mirror-program.ts')).mirrorCommand(world, lines, done),
  ),
  lazy('operators', 'serve', async ({ world, lines, done, options }) =>
    (await import('./operator/serve-command.ts')).serveCommand(world, lines, done, options),
  ),
  lazy('operators', 'import', async ({ world, done }) =>
    (await import('./operator/import-command.ts')).importCommand(world, done),
  ),
  lazy('operators', 'publish', async ({ world, input, done, options }) =>
    (await import('./publish/publish-program.ts')).publishCommand(world, input, done, options),
  ),
  lazy('operators', 'correct', async ({ world, done }) =>
    (await import('./operator/correct-command.ts')).correctCommand(world, done),
  ),
  lazy('operators', 'held', async ({ world, done }) =>
    (await import('./operator/held-command.ts')).heldCommand(world, done),
  ),
  lazy('operators', 'keygen', async ({ world, done }) =>
    (await import('./operator/keygen-command.ts')).keygenCommand(world, done),
  ),
  lazy('operators', 'doctor', async ({ world, done }) =>
    (await import('./doctor/doctor-command.ts')).doctorCommand(world, done),
  ),
  lazy('operators', 'check', async ({ world, done }) =>
    (await import('./operator/check-command.ts')).checkCommand(world, done),
  ),
  lazy('operators', 'backup', async ({ world, done }) =>
    (await import('./backups/backup-command.ts')).backupCommand(world, done),
  ),
  lazy('operators', 'restore', async ({ world, done }) =>
    (await import('./backups/restore-command.ts')).restoreCommand(world, done),
  ),
  lazy('operators', 'upgrade', async ({ world, done }) =>
    (await import('./operator/upgrade-command.ts')).upgradeCommand(world, done),
  ),
]

/**
 * Builds the command line: commands with their options and limits. When the first word is a command, the program has only
 * that one; without such a word it has all.
 */
export async function openProgram(surroundings: ProgramWorld, words: readonly string[]): Promise<Command> {
  const { world, options } = surroundings
  const all = [...COMMANDS, ...options.flatMap(({ commands = [] }) => commands)]
  const program = new Command('daybook')
    .description(`The open book of a contest and prize platform. ${NOTICE}`)
    .version(VERSION)
    .addHelpText('after', '\nTo try it: daybook demo --data demo, then daybook tail http://127.0.0.1:8080')
    .addHelpText('afterAll', ({ error }) =>
      error || world.program === 'daybook'
        ? ''
        : `\nHere, write \`${world.program}\` in place of \`daybook\`.`,
    )
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows the usage)')
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      writeErr: (text) => void world.stderr.write(text),
    })
  const called = all.find(({ name }) => name === words[0])
  for (const { group, load } of called === undefined ? all : [called])
    program.commandsGroup(COMMAND_GROUPS[group]).addCommand(await load(surroundings))
  // A command that is added takes over no settings, such as the hint after an error.
  for (const command of program.commands) command.copyInheritedSettings(program)
  // After that, so that the group of the command `help` is not taken over.
  if (called === undefined) program.commandsGroup('For everyone:').helpCommand(true)
  return program
}
