import { Command } from 'commander'
import { COMMAND_GROUPS, type CommandRoom, type ProgramWorld, room } from './plug/option.ts'
import { VERSION } from './terminal/version.ts'

const NOTICE = 'The data is informational only: not advice, a forecast or an offer.'

/** All commands of the core. A start loads the room of its command only. */
const ROOMS: readonly CommandRoom[] = [
  room('trial', 'demo', async ({ world, lines, done, options }) =>
    (await import('./demo/demo-program.ts')).demoCommand(world, lines, done, options),
  ),
  {
    group: 'readers',
    commands: ['tail', 'get', 'pull', 'export'],
    async add(program, { world, done }) {
      const { addConsumerCommands } = await import('./consumer/consumer-program.ts')
      addConsumerCommands(program, world, done)
    },
  },
  room('auditors', 'verify', async ({ world, done }) =>
    (await import('./consumer/verify-command.ts')).verifyCommand(world, done),
  ),
  room('auditors', 'mirror', async ({ world, lines, done }) =>
    (await import('../mirror/command/mirror-program.ts')).mirrorCommand(world, lines, done),
  ),
  room('operators', 'serve', async ({ world, lines, done, options }) =>
    (await import('./operator/serve-program.ts')).serveCommand(world, lines, done, options),
  ),
  room('operators', 'import', async ({ world, done }) =>
    (await import('./operator/import-command.ts')).importCommand(world, done),
  ),
  room('operators', 'publish', async ({ world, input, done, options }) =>
    (await import('./publish/publish-program.ts')).publishCommand(world, input, done, options),
  ),
  room('operators', 'correct', async ({ world, done }) =>
    (await import('./operator/correct-program.ts')).correctCommand(world, done),
  ),
  room('operators', 'held', async ({ world, done }) =>
    (await import('./operator/held-program.ts')).heldCommand(world, done),
  ),
  room('operators', 'keygen', async ({ world, done }) =>
    (await import('./operator/keygen-command.ts')).keygenCommand(world, done),
  ),
  room('operators', 'doctor', async ({ world, done }) =>
    (await import('./doctor/doctor-program.ts')).doctorCommand(world, done),
  ),
  room('operators', 'check', async ({ world, done }) =>
    (await import('./operator/check-command.ts')).checkCommand(world, done),
  ),
  room('operators', 'backup', async ({ world, done }) =>
    (await import('./backups/backup-program.ts')).backupCommand(world, done),
  ),
  room('operators', 'restore', async ({ world, done }) =>
    (await import('./backups/restore-command.ts')).restoreCommand(world, done),
  ),
  room('operators', 'upgrade', async ({ world, done }) =>
    (await import('./operator/upgrade-command.ts')).upgradeCommand(world, done),
  ),
]

/**
 * Builds the command line: commands with their options and limits. When the first word is a command, the program has only
 * the commands that are loaded with it; without such a word it has all.
 */
export async function openProgram(surroundings: ProgramWorld, words: readonly string[]): Promise<Command> {
  const { world, options } = surroundings
  const rooms = [...ROOMS, ...options.flatMap(({ commands = [] }) => commands)]
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
  const called = rooms.find(({ commands }) => commands.some((command) => command === words[0]))
  for (const { group, add } of called === undefined ? rooms : [called]) {
    program.commandsGroup(COMMAND_GROUPS[group])
    await add(program, surroundings)
  }
  // A command that is added takes over no settings, such as the hint after an error.
  for (const command of program.commands) command.copyInheritedSettings(program)
  // After that, so that the group of the command `help` is not taken over.
  if (called === undefined) program.commandsGroup('For everyone:').helpCommand(true)
  return program
}
