/**
 * The room of the command line and of the running service. It may know all of the core, and no option: `main.ts` plugs
 * options in through the ports of `plug/option.ts`. Begin to read here: each command is one file, which declares its
 * options and runs it. `consumer` has the commands of readers, `operator`, `backups` and `doctor` those of operators, and
 * `publish` those that use the publish API. `operator/serve-command.ts` leads to the service (`service/service.ts`), whose
 * log lines are a table of facts (`log-lines/facts.ts`). `terminal` has what commands share: parsers of options, the
 * client, output and errors.
 */

import { Command } from 'commander'
import { COMMAND_GROUPS, lazy, type LazyCommand, type ProgramContext } from './plug/option.ts'
import { VERSION } from './terminal/version.ts'

const NOTICE = 'The data is informational only: not advice, a forecast or an offer.'

/** All commands of the core. A start loads the one that it is called for. */
const COMMANDS: readonly LazyCommand[] = [
  lazy('trial', 'demo', async ({ context, lines, done, options }) =>
    (await import('./demo/demo-command.ts')).demoCommand(context, lines, done, options),
  ),
  lazy('readers', 'tail', async ({ context, done }) =>
    (await import('./consumer/tail-command.ts')).tailCommand(context, done),
  ),
  lazy('readers', 'get', async ({ context, done }) =>
    (await import('./consumer/get-command.ts')).getCommand(context, done),
  ),
  lazy('readers', 'pull', async ({ context, done }) =>
    (await import('./consumer/pull-command.ts')).pullCommand(context, done),
  ),
  lazy('readers', 'export', async ({ context, done }) =>
    (await import('./consumer/export-command.ts')).exportCommand(context, done),
  ),
  lazy('auditors', 'verify', async ({ context, done, options }) =>
    (await import('./consumer/verify-command.ts')).verifyCommand(context, done, options),
  ),
  lazy('operators', 'serve', async ({ context, lines, done, options }) =>
    (await import('./operator/serve-command.ts')).serveCommand(context, lines, done, options),
  ),
  lazy('operators', 'import', async ({ context, done }) =>
    (await import('./operator/import-command.ts')).importCommand(context, done),
  ),
  lazy('operators', 'publish', async ({ context, input, done, options }) =>
    (await import('./publish/publish-command.ts')).publishCommand(context, input, done, options),
  ),
  lazy('operators', 'correct', async ({ context, done }) =>
    (await import('./publish/correct-command.ts')).correctCommand(context, done),
  ),
  lazy('operators', 'held', async ({ context, done }) =>
    (await import('./publish/held-command.ts')).heldCommand(context, done),
  ),
  lazy('operators', 'keygen', async ({ context, done }) =>
    (await import('./operator/keygen-command.ts')).keygenCommand(context, done),
  ),
  lazy('operators', 'doctor', async ({ context, done }) =>
    (await import('./doctor/doctor-command.ts')).doctorCommand(context, done),
  ),
  lazy('operators', 'check', async ({ context, done }) =>
    (await import('./operator/check-command.ts')).checkCommand(context, done),
  ),
  lazy('operators', 'backup', async ({ context, done }) =>
    (await import('./backups/backup-command.ts')).backupCommand(context, done),
  ),
  lazy('operators', 'restore', async ({ context, done }) =>
    (await import('./backups/restore-command.ts')).restoreCommand(context, done),
  ),
  lazy('operators', 'upgrade', async ({ context, done }) =>
    (await import('./operator/upgrade-command.ts')).upgradeCommand(context, done),
  ),
]

/**
 * Builds the command line: commands with their options and limits. When the first word is a command, the program has only
 * that one; without such a word it has all.
 */
export async function openProgram(surroundings: ProgramContext, words: readonly string[]): Promise<Command> {
  const { context, options } = surroundings
  const all = [...COMMANDS, ...options.flatMap(({ commands = [] }) => commands)]
  const program = new Command('daybook')
    .description(`The open book of a contest and prize platform. ${NOTICE}`)
    .version(VERSION)
    .addHelpText('after', '\nTo try it: daybook demo --data demo, then daybook tail http://127.0.0.1:8080')
    .addHelpText('afterAll', ({ error }) =>
      error || context.program === 'daybook'
        ? ''
        : `\nHere, write \`${context.program}\` in place of \`daybook\`.`,
    )
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows the usage)')
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
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
