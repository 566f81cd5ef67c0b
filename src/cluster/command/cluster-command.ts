import { Argument, Option } from 'commander'
import { directoryOption, requireLog } from '../../command/operator/log-options.ts'
import { askOperator, openPublishAccess } from '../../command/publish/publish-client.ts'
import { readSharedKeys } from '../../command/operator/signing-key-file.ts'
import { keyFiles, option, optionOf } from '../../command/terminal/options.ts'
import { printable } from '../../command/terminal/output.ts'
import {
  type CommandContext,
  type ExitCode,
  printNotice,
  takeDirectory,
} from '../../command/terminal/command-context.ts'
import { UsageError } from '../../command/terminal/command-error.ts'
import { storePath } from '../../log/store/store.ts'
import { KEYS_PATH } from '../log/key-step.ts'
import { openPrimaryFile } from '../table/primary-file.ts'
import { setupSql } from '../table/table-setup.ts'
import { lostCommand } from './lost-command.ts'
import { requireTable, TABLE_OPTIONS, type TableOptionValues } from './table-options.ts'
import { workOnTable } from './table-work.ts'
import type { CommandSpec, ProgramContext } from '../../command/plug/option.ts'
import { refuseOtherOwner } from '../../command/terminal/log-directory.ts'

/** The command `cluster`: the operator's work on the table that carries a log. */
export function clusterCommand(surroundings: ProgramContext): CommandSpec {
  const commands = [initCommand, moveCommand, checkCommand, keysCommand, lostCommand]
  return {
    name: 'cluster',
    description: 'keep a log on several nodes, of which one leads',
    commands: commands.map((command) => command(surroundings)),
  }
}

function initCommand({ context }: ProgramContext): CommandSpec {
  return {
    name: 'init',
    description: 'print the SQL that makes the table of a log, and the role of its nodes',
    arguments: [new Argument('<database>', 'name of the database in which it runs')],
    options: [optionOf('cluster')('--role <name>', 'role with which the nodes run').default('daybook')],
    help: 'Example: daybook cluster init book | psql -d book -v ON_ERROR_STOP=1',
    run(database: string, { role }: Readonly<{ role: string }>) {
      const sql = setupSql(role, database)
      if (sql === null) throw new UsageError('names of role and database have a-z, 0-9 and _ only')
      context.stdout.write(sql)
      return 0
    },
  }
}

type MoveOptions = TableOptionValues &
  Readonly<{ data: string; back?: true; acceptLoss?: true; signingKeyFile?: readonly string[] }>

function moveCommand({ context }: ProgramContext): CommandSpec {
  const key = optionOf('cluster')(
    '--signing-key-file <files>',
    'key that signs the log, or two with a comma (default: <dir>.key)',
  )
  return {
    name: 'move',
    description: 'put the log of a data directory on an empty table, or take it off; no process may use it',
    options: [
      directoryOption(),
      key.argParser(keyFiles),
      new Option('--back', 'take the log off the table: all other nodes stop'),
      new Option(
        '--accept-loss',
        'move a log whose table is lost; with --back: take the branch of this node off the table, as a new log',
      ),
      ...TABLE_OPTIONS,
    ],
    help: `Example:
  daybook cluster move --data /var/lib/daybook/log --log-store postgres://daybook@a.example.org,b.example.org/book`,
    run: (options: MoveOptions) => move(options, context),
  }
}

async function move(options: MoveOptions, context: CommandContext): Promise<ExitCode> {
  const { data: dataDirectory, back, acceptLoss, signingKeyFile } = options
  const table = requireTable(options)
  requireLog(dataDirectory)
  refuseOtherOwner(dataDirectory, context)
  using _lock = takeDirectory(dataDirectory)
  const keys = readSharedKeys(signingKeyFile, dataDirectory, context)
  const done = await workOnTable('moving', context, async (work) => {
    const settings = { ...work, dataDirectory, keys, table, acceptLoss: acceptLoss === true }
    if (back !== true) {
      const { moveToTable } = await import('../log/move-log.ts')
      const { head, rows } = await moveToTable(settings)
      return `the log is on the table up to seq ${head}, in ${rows} rows: serve it with --log-store, and start other nodes with an empty directory and the same key`
    }
    const { leaveBranch, moveBack } = await import('../log/move-back.ts')
    if (acceptLoss === true)
      return `a new log continues from seq ${leaveBranch(settings)}: serve it without --log-store, announce it, and start no other node of the former one`
    return `the log is off the table at seq ${await moveBack(settings)}: serve it without --log-store, and start no other node`
  })
  context.stdout.write(`${done}\n`)
  return 0
}

type CheckOptions = TableOptionValues & Readonly<{ data?: string }>

function checkCommand({ context }: ProgramContext): CommandSpec {
  return {
    name: 'check',
    description: 'read the table of a log: settings, places, signatures and roots',
    options: [
      option('--data <dir>', 'data directory to compare with the table; no process may use the directory'),
      ...TABLE_OPTIONS,
    ],
    help: `Example:
  daybook cluster check --log-store postgres://daybook@a.example.org,b.example.org/book`,
    run: (options: CheckOptions) => check(options, context),
  }
}

async function check({ data, ...options }: CheckOptions, context: CommandContext): Promise<ExitCode> {
  const { database, isSingle } = requireTable(options)
  if (data !== undefined) requireLog(data)
  using _lock = data === undefined ? null : takeDirectory(data)
  const { checkTable } = await import('../log/check-table.ts')
  const store = data === undefined ? null : storePath(data)
  // A former primary is refused, as on a node. Only a node records a new one.
  const memory = data === undefined ? null : { ...openPrimaryFile(data), write: () => undefined }
  const { faults, notices, rows, end } = await workOnTable('reading', context, (work) =>
    checkTable({
      ...work,
      target: database,
      options: { ...work, isSingle, memory, logId: '' },
      store,
    }),
  )
  for (const notice of [...faults, ...notices]) printNotice(context, notice)
  if (faults.length > 0) return 1
  const whole = `${rows} rows follow each other up to seq ${end.head} of log ${end.logId}`
  context.stdout.write(`${whole}${store === null ? '' : ', and the store agrees with them'}\n`)
  if (end.vkeys === null)
    printNotice(context, 'no signature was checked: the first rows are gone; give --data')
  for (const vkey of end.vkeys ?? []) context.stdout.write(`signed with ${vkey}\n`)
  return 0
}

type KeysOptions = Readonly<{ to: string; tokenFile: string }>

function keysCommand({ context }: ProgramContext): CommandSpec {
  const own = optionOf('cluster_keys')
  return {
    name: 'keys',
    description: 'change the keys that sign a log, on all nodes at once; every node must hold them',
    arguments: [
      new Argument('<vkeys...>', 'vkeys of all keys that sign from now on, one or two (keygen --show)'),
    ],
    options: [
      own('--to <urls>', 'addresses of the publish APIs of the nodes').default('http://127.0.0.1:8081'),
      own('--token-file <file>', 'file with the publish token; required').makeOptionMandatory(),
    ],
    help: `Example, first with both keys and later with the new one alone:
  daybook cluster keys --token-file token "$OLD" "$NEW"`,
    async run(vkeys: readonly string[], { to, tokenFile }: KeysOptions): Promise<ExitCode> {
      // A node that does not lead is skipped. A repeated step changes nothing.
      const answer = await askOperator(openPublishAccess(to, tokenFile, context), KEYS_PATH, { vkeys })
      const { vkeys: signing, head } = answer
      const shown = Array.isArray(signing) ? signing.map((vkey) => `${printable(String(vkey))}\n`) : []
      context.stdout.write(`the log is signed with these keys at seq ${String(head)}:\n${shown.join('')}`)
      return 0
    },
  }
}
