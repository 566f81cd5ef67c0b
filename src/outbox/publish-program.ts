import { Command } from 'commander'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { isPipe, publicLog, publishFile } from '../command/operator/publish-command.ts'
import { type DoorAccess, openDoor } from '../command/operator/publish-door.ts'
import { option } from '../command/terminal/options.ts'
import { shellQuoted } from '../command/terminal/output.ts'
import { CommandError, type ExitCode, type World } from '../command/terminal/world.ts'
import { parseDatabaseUrl } from '../command/terminal/database-url.ts'
import { drainOutbox } from './drain.ts'
import { outboxSql, parseOutboxTable } from './outbox-sql.ts'
import { publishInput } from './publish-input.ts'

type PublishOptions = Readonly<{
  to: string
  url?: string
  tokenFile?: string
  from?: string
  passwordFile?: string
  table: string
  once?: true
  sql?: true
}>

/** The command `publish`: drafts from a file, an input that may never end, or a table of PostgreSQL. */
export function publishCommand(world: World, input: Readable, done: (code: ExitCode) => void): Command {
  return new Command('publish')
    .description('send drafts to the publish door')
    .argument('[file]', 'drafts as JSON lines; - for standard input, the default')
    .addOption(
      option(
        '--to <urls>',
        'address of the publish door; with several nodes, their addresses with commas',
      ).default('http://127.0.0.1:8081'),
    )
    .addOption(option('--url <url>', 'address of the service: refuse a door that belongs to another log'))
    .addOption(option('--token-file <file>', 'file with the publish token; required, except with --sql'))
    .addOption(
      option('--from <url>', 'drain an outbox in PostgreSQL without end: postgres://user@host/database'),
    )
    .addOption(option('--password-file <file>', 'file with the password of --from'))
    .addOption(option('--table <name>', 'table of the outbox').default('public.daybook_outbox'))
    .addOption(option('--once', 'with --from: end when the table has no row left'))
    .addOption(option('--sql', 'print the SQL that makes the table, its trigger and a role'))
    .addHelpText(
      'after',
      `
Examples:
  daybook publish drafts.jsonl --token-file token
  daybook publish --sql > outbox.sql
  daybook publish --from postgres://daybook@db.example.org/platform --password-file password --token-file token
  tail -n +1 -F drafts.jsonl | daybook publish - --token-file token`,
    )
    .action(async (file: string | undefined, options: PublishOptions) =>
      done(await publishFrom(file ?? null, options, input, world)),
    )
}

async function publishFrom(
  file: string | null,
  options: PublishOptions,
  input: Readable,
  world: World,
): Promise<ExitCode> {
  const { to, url = null, tokenFile, from, passwordFile = null } = options
  const sources = [file, from, options.sql].filter((source) => source != null)
  if (sources.length > 1) throw new CommandError(2, 'give only one of a file, --from and --sql')
  if (options.once === true && from === undefined) throw new CommandError(2, '--once needs --from')
  const table = parseOutboxTable(options.table)
  if (options.sql === true) {
    world.stdout.write(outboxSql(table))
    return 0
  }
  if (tokenFile === undefined) throw new CommandError(2, 'give the publish token with --token-file')
  if (from !== undefined) {
    const target = parseDatabaseUrl(from, passwordFile)
    const door = await loggedDoor(to, tokenFile, url, world)
    return drainOutbox({ target, table, door, once: options.once === true }, world)
  }
  const isInput = file === null || file === '-'
  const hasEnd = !isInput && !isPipe(file)
  const door = await loggedDoor(to, tokenFile, url, world)
  if (isInput) return publishInput(input, 'standard input', door, world)
  if (hasEnd) return publishFile(file, door, world)
  return publishInput(createReadStream(file), shellQuoted(file), door, world)
}

/** The door, pinned to the log of the service at `url`, if given. */
async function loggedDoor(
  to: string,
  tokenFile: string,
  url: string | null,
  world: World,
): Promise<DoorAccess> {
  const door = openDoor(to, tokenFile, world)
  return url === null ? door : { ...door, log: await publicLog(url, world) }
}
