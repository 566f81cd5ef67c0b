import { Command } from 'commander'
import type { Readable } from 'node:stream'
import { clusterCommand } from './cluster/cluster-program.ts'
import { backupCommand } from './backups/backup-program.ts'
import { restoreCommand } from './backups/restore-command.ts'
import type { MainLines } from './log-lines/log-lines.ts'
import { check } from './operator/check-command.ts'
import { addDoctorCommand } from './doctor/doctor-program.ts'
import { addConsumerCommands } from './consumer/consumer-program.ts'
import { refuseMirrorDirectory } from './terminal/mirror-directory.ts'
import { refuseOtherOwner } from './terminal/directory-owner.ts'
import { makeFolder } from './terminal/option-paths.ts'
import type { LogStoreOptions } from './operator/log-store-options.ts'
import { logStoreOf, logStoreOptions } from './operator/log-store-options.ts'
import { checkFiles, runImport } from './operator/import-command.ts'
import { keyFiles, option, optionOf, originName } from './terminal/options.ts'
import { addOperatorCommands } from './operator/operator-program.ts'
import { heldCommand } from './operator/held-program.ts'
import { publishCommand } from './outbox/publish-program.ts'
import type { KeygenOptions } from './operator/signing-key-file.ts'
import { mirrorCommand } from './mirror/mirror-program.ts'
import { keygen, readKnownKeys, readSigningKeys } from './operator/signing-key-file.ts'
import { witnessCommand } from './witness/witness-program.ts'
import { verifyCommand } from './consumer/verify-command.ts'
import { VERSION } from './terminal/version.ts'
import type { ExitCode, World } from './terminal/world.ts'
import type { LogOptions } from './operator/log-options.ts'
import { directoryOption, logOptions, newLogOf, ORIGIN } from './operator/log-options.ts'
import { addServeCommands } from './operator/serve-program.ts'
import { upgradeCommand } from './operator/upgrade-command.ts'

const NOTICE = 'The data is informational only: not advice, a forecast or an offer.'

type CheckOptions = LogStoreOptions & Readonly<{ data: string; signingKeyFile?: readonly string[] }>

/** Builds the command line: every command, its options and their limits. `done` receives a command's exit code. */
export function openProgram(
  world: World,
  lines: MainLines,
  input: Readable,
  done: (code: ExitCode) => void,
): Command {
  const program = new Command('daybook')
    .description(`The open book of a contest and prize platform. ${NOTICE}`)
    .version(VERSION)
    .addHelpText('after', '\nTo try it: daybook demo --data demo, then daybook tail http://127.0.0.1:8080')
    .showSuggestionAfterError()
    .showHelpAfterError('(--help shows the usage)')
    .configureOutput({
      writeOut: (text) => void world.stdout.write(text),
      writeErr: (text) => void world.stderr.write(text),
    })
  addServeCommands(program, world, lines, done)
  program.addCommand(mirrorCommand(world, lines, done))
  program.addCommand(witnessCommand(world, lines, done))
  addDataCommands(program, world, input, done)
  addConsumerCommands(program, world, done)
  program.addCommand(verifyCommand(world, done))
  program.addCommand(heldCommand(world, done))
  program.addCommand(upgradeCommand(world, done))
  program.addCommand(clusterCommand(world, done))
  addOperatorCommands(program, world, done)
  addDoctorCommand(program, world, done)
  return program
}

function addDataCommands(
  program: Command,
  world: World,
  input: Readable,
  done: (code: ExitCode) => void,
): void {
  program.addCommand(
    logOptions(new Command('import').description('load history from files of drafts: all of it, or nothing'))
      .argument('<file...>', 'drafts with `at` as JSON lines, plain or gzip')
      .addOption(directoryOption())
      .action(async (files: string[], options: LogOptions & { data: string }) => {
        checkFiles(files)
        refuseOtherOwner(options.data, world)
        refuseMirrorDirectory(options.data)
        const newLog = newLogOf(options, false)
        makeFolder(options.data, '--data')
        const keys = readSigningKeys(options.signingKeyFile, options.data, newLog.origin, world)
        done(await runImport({ files, ...options, newLog, keys }, world))
      }),
  )
  program.addCommand(publishCommand(world, input, done))
  program.addCommand(
    new Command('keygen')
      .description('make a key of a log or a witness, or print the vkey of an existing key')
      .addOption(option('--to <file>', 'new file for the key; it must not exist').env('DAYBOOK_KEYGEN_TO'))
      .addOption(option('--show <file>', 'existing key file').env('DAYBOOK_KEYGEN_SHOW'))
      .addOption(
        option('--origin <name>', 'name of the log or witness').argParser(originName).default(ORIGIN),
      )
      .addOption(optionOf('keygen')('--witness', 'the key is of a witness: its vkey is for cosignatures'))
      .addOption(optionOf('keygen')('--ml-dsa', 'make a key of a witness of type ML-DSA-44, not Ed25519'))
      .action((options: KeygenOptions) => done(keygen(options, world))),
  )
  const checking = new Command('check')
    .description('recompute everything in a store from the lines of its log')
    .addOption(directoryOption())
    .addOption(
      option(
        '--signing-key-file <files>',
        'key that must have signed the log, or two with a comma (default: <dir>.key, if it exists)',
      ).argParser(keyFiles),
    )
  program.addCommand(
    logStoreOptions(checking).action(async ({ data, signingKeyFile, ...engine }: CheckOptions) => {
      const logStore = logStoreOf(engine)
      const keys = readKnownKeys(signingKeyFile, data, world)
      done(await check({ data, keys, logStore }, world))
    }),
  )
  program.addCommand(backupCommand(world, done))
  program.addCommand(restoreCommand(world, done))
}
