/**
 * The room `command` has the command line and the running service. It may import all of the core, and no option:
 * `main.ts` plugs options in through the ports of `plug/option.ts`. Begin to read here: each command is one file, which
 * declares its options and runs it. `consumer` has the commands of readers, `operator`, `backups` and `doctor` those of
 * operators, and `publish` those that use the publish API. `operator/serve-command.ts` leads to the service
 * (`service/service.ts`), whose log lines are a table of facts (`log-lines/facts.ts`). `terminal` has parts that
 * commands share: parsers of options, the client, output and errors.
 */

import { Command } from 'commander'
import {
  COMMAND_GROUPS,
  type CommandSpec,
  lazy,
  type LazyCommand,
  type ProgramContext,
} from './plug/option.ts'
import type { ExitCode } from './terminal/command-context.ts'
import { VERSION } from './terminal/version.ts'

const NOTICE = 'The data is informational only: not advice, a forecast or an offer.'

/** All commands of the core. A start loads only the called one. */
const COMMANDS: readonly LazyCommand[] = [
  lazy('trial', 'demo', async () => (await import('./demo/demo-command.ts')).demoCommand),
  lazy('readers', 'tail', async () => (await import('./consumer/tail-command.ts')).tailCommand),
  lazy('readers', 'get', async () => (await import('./consumer/get-command.ts')).getCommand),
  lazy('readers', 'pull', async () => (await import('./consumer/pull-command.ts')).pullCommand),
  lazy('readers', 'export', async () => (await import('./consumer/export-command.ts')).exportCommand),
  lazy('auditors', 'verify', async () => (await import('./consumer/verify-command.ts')).verifyCommand),
  lazy('auditors', 'conform', async () => (await import('./consumer/conform-command.ts')).conformCommand),
  lazy('operators', 'serve', async () => (await import('./operator/serve-command.ts')).serveCommand),
  lazy('operators', 'import', async () => (await import('./operator/import-command.ts')).importCommand),
  lazy('operators', 'publish', async () => (await import('./publish/publish-command.ts')).publishCommand),
  lazy('operators', 'correct', async () => (await import('./publish/correct-command.ts')).correctCommand),
  lazy('operators', 'held', async () => (await import('./publish/held-command.ts')).heldCommand),
  lazy('operators', 'keygen', async () => (await import('./operator/keygen-command.ts')).keygenCommand),
  lazy('operators', 'doctor', async () => (await import('./doctor/doctor-command.ts')).doctorCommand),
  lazy('operators', 'check', async () => (await import('./operator/check-command.ts')).checkCommand),
  lazy('operators', 'backup', async () => (await import('./backups/backup-command.ts')).backupCommand),
  lazy('operators', 'restore', async () => (await import('./backups/restore-command.ts')).restoreCommand),
  lazy('operators', 'upgrade', async () => (await import('./operator/upgrade-command.ts')).upgradeCommand),
]

/**
 * Builds the command line: commands with their options and limits. If the first word is a command, only that one is
 * loaded; otherwise all are. `done` receives the exit code of a command.
 */
export async function openProgram(
  surroundings: ProgramContext,
  words: readonly string[],
  done: (code: ExitCode) => void,
): Promise<Command> {
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
  for (const { group, load } of called === undefined ? all : [called]) {
    const spec = await (await load())(surroundings)
    program.commandsGroup(COMMAND_GROUPS[group]).addCommand(commandOf(spec, done))
  }
  // An added command does not inherit settings, such as the hint after an error.
  for (const command of program.commands) command.copyInheritedSettings(program)
  // Afterwards, so that the command `help` does not inherit the group.
  if (called === undefined) program.commandsGroup('For everyone:').helpCommand(true)
  return program
}

/** The command of commander for a declaration. */
function commandOf(spec: CommandSpec, done: (code: ExitCode) => void): Command {
  const command = new Command(spec.name).description(spec.description)
  if (spec.alias !== undefined) command.alias(spec.alias)
  for (const argument of spec.arguments ?? []) command.addArgument(argument)
  for (const option of spec.options ?? []) command.addOption(option)
  if (spec.help !== undefined) command.addHelpText('after', `\n${spec.help}`)
  for (const below of spec.commands ?? [])
    command.addCommand(commandOf(below, done), { isDefault: below.isDefault === true })
  // Without an action, a command with subcommands shows its help.
  const { run } = spec
  if (run !== undefined) command.action(async (...given: unknown[]) => done(await run(...given)))
  return command
}
